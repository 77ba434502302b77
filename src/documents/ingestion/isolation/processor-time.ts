/** Processor time of all threads of this process, in milliseconds. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
