/** What three million steps of integers take on the processor that bounds of processor time are stated for. */
export const nominalReferenceMs = 3

/** Processor time of these steps in the calling thread, in milliseconds. Divided by the nominal time: how slow this processor is now. */
export function referenceMs(): number {
  const { user, system } = process.threadCpuUsage()
  let state = 1
  for (let step = 0; step < 3_000_000; step++) state = (Math.imul(state, 1_664_525) + step) | 0
  // The result is used, so that the loop is not removed.
  if (state === 0) throw new Error('unreachable: the loop is deterministic')
  const spent = process.threadCpuUsage({ user, system })
  return (spent.user + spent.system) / 1_000
}
