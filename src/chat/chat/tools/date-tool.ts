import { z } from 'zod'
import { objectSchema, readWith, type Tool } from './tool.ts'

/** Today, in the time zone of the organisation. */
export const dateTool: Tool = {
  definition: {
    name: 'current_date',
    description: 'Returns the date and time now, with the weekday and the time zone.',
    parameters: objectSchema({}),
  },
  source: 'CURRENT_DATE',
  status: 'COMPUTED',
  read: readWith(z.strictObject({}), () => ({
    query: 'current date',
    async run({ dependencies, call }) {
      const now = new Date(dependencies.now())
      const { timeZone } = call.organisation
      const date = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(now)
      const weekday = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'long' }).format(now)
      return { passages: [], note: `${weekday}, ${date}, time zone ${timeZone}`, count: 1 }
    },
  })),
}
