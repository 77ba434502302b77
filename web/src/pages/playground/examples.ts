/** Texts that the editors of the playground offer. */

const text = (value: unknown) => JSON.stringify(value, null, 2)

const object = (properties: object, required: string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

export const toolExamples = {
  weather: text([
    {
      type: 'function',
      function: {
        name: 'weather',
        description: 'The weather of a city today.',
        parameters: object({ city: { type: 'string', description: 'Name of the city' } }, ['city']),
      },
    },
  ]),
  orders: text([
    {
      type: 'function',
      function: {
        name: 'find_orders',
        description: 'Finds the orders of a customer, the newest first.',
        parameters: object(
          {
            email: { type: 'string', description: 'E-mail address of the customer' },
            status: { type: 'string', enum: ['open', 'sent', 'returned'] },
          },
          ['email'],
        ),
      },
    },
    {
      type: 'function',
      function: {
        name: 'refund_order',
        description: 'Pays an order back.',
        parameters: object(
          { order: { type: 'string', description: 'Number of the order' }, reason: { type: 'string' } },
          ['order', 'reason'],
        ),
      },
    },
  ]),
}

export const schemaExamples = {
  city: text(
    object(
      {
        name: { type: 'string' },
        population: { type: 'integer' },
        languages: { type: 'array', items: { type: 'string' } },
      },
      ['name', 'population', 'languages'],
    ),
  ),
}
