import type { Clock } from '../../platform/kernel/index.ts'

export const freshness = 'Every call that was settled before the moment in `x-portico-as-of` is included.'

/** Names that moment, as ISO 8601 in UTC. Call it before the data are read. */
export function noteFreshness(
  reply: { header(name: string, value: string): unknown },
  clock: Pick<Clock, 'now'>,
): void {
  reply.header('x-portico-as-of', new Date(clock.now()).toISOString())
}
