import type { ChildProcess } from 'node:child_process'
import type { CpuReading } from './cpu-probe.ts'

/** Asks the probe (cpu-probe.ts) in this process; its standard error is a pipe. */
export function readCpu(child: ChildProcess): Promise<CpuReading> {
  return new Promise((resolve) => {
    let output = ''
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      const found = /^cpu (\{.*\})\n/m.exec(output)
      if (!found) return
      child.stderr!.off('data', read)
      resolve(JSON.parse(found[1]!) as CpuReading)
    }
    child.stderr!.on('data', read)
    child.kill('SIGUSR2')
  })
}
