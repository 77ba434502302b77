/**
 * A list of the parts of a service, in the order in which a start makes them. Each part names the parts before it that it needs. A stop calls
 * the `close` of the parts that have one, in reverse order.
 */
export interface PartList<Given extends Closing, Parts extends Given = Given> {
  /** `make` receives what is given and the parts before this one. */
  add<Name extends string, Part>(
    name: Name extends keyof Parts ? never : Name,
    make: (parts: Parts) => Part,
  ): PartList<Given, Parts & Record<Name, Awaited<Part>>>
  /** For `npm run bench:start`, and for `performance` in a debugger. */
  mark(name: string): PartList<Given, Parts>
  /** The parts that follow need more than those before them. */
  needs<More extends object>(): PartList<Given & More, Parts & More>
  /** Makes every part. What a stop closes is registered part by part, so that a start that fails closes it as well. */
  make(given: Given): Promise<Parts>
}

/** Registers a function that a stop calls. A stop calls them in reverse order. */
export type OnStop = (close: () => unknown) => void

export type PartsOf<List> =
  List extends PartList<infer _Given, infer Parts> ? { [Name in keyof Parts]: Parts[Name] } : never

interface Closing {
  onStop: OnStop
}

interface Step {
  name: string
  /** Absent: a mark. */
  make?: (parts: never) => unknown
}

export function listParts<Given extends Closing>(): PartList<Given> {
  return listOf<Given, Given>([])
}

function listOf<Given extends Closing, Parts extends Given>(steps: readonly Step[]): PartList<Given, Parts> {
  return {
    add: (name, make) => listOf([...steps, { name, make }]),
    mark: (name) => listOf([...steps, { name }]),
    needs: () => listOf(steps),
    async make(given) {
      const made: Record<string, unknown> = {}
      const parts = Object.assign(made, given)
      for (const { name, make } of steps) {
        if (!make) {
          performance.mark(name)
          continue
        }
        const part: unknown = await make(parts as never)
        made[name] = part
        if (isClosable(part)) given.onStop(() => part.close())
      }
      return parts as unknown as Parts
    },
  }
}

function isClosable(part: unknown): part is { close(): unknown } {
  return typeof part === 'object' && part !== null && 'close' in part && typeof part.close === 'function'
}
