import { z } from 'zod'
import { evaluate } from './arithmetic.ts'
import { objectSchema, readWith, type Tool } from './tool.ts'

/** Longest expression, UTF-16 units. */
const maximumExpressionLength = 1_000

/** Exact arithmetic. */
export const calculateTool: Tool = {
  definition: {
    name: 'calculate',
    description:
      'Computes an arithmetic expression exactly: + - * / ^, brackets, percent (12%), and the functions abs, min, max, sum, avg, round(x, digits). Write 1234.5, not 1,234.5.',
    parameters: objectSchema({ expression: { type: 'string', description: 'For example (1200 - 950) / 950 * 100' } }, [
      'expression',
    ]),
  },
  source: 'CALCULATOR',
  status: 'COMPUTED',
  read: readWith(
    z.strictObject({ expression: z.string().trim().min(1).max(maximumExpressionLength) }),
    ({ expression }) => ({
      query: expression,
      async run() {
        const result = evaluate(expression)
        return 'problem' in result ? result : { passages: [], note: `${expression} = ${result.value}`, count: 1 }
      },
    }),
  ),
}
