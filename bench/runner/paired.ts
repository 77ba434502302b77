import type { WriteFigure } from './figures.ts'
import { rotated } from './figures.ts'
import { median } from './ratios.ts'

export interface PairedSubject {
  name: string
  reference?: boolean
  call(): Promise<unknown>
}

/**
 * Runs subjects in this process in turns: `repetitions` calls of each in each round. Writes the median time and the processor time of a call
 * for each round, and returns the times of all calls by subject, in ms. The processor time is that of this process with its threads,
 * such as those of the embedded engine; that of a server is not in it.
 */
export async function runPaired(options: {
  case: string
  rounds: number
  repetitions: number
  subjects: readonly PairedSubject[]
  write: WriteFigure
}): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>(options.subjects.map(({ name }) => [name, []]))
  // Compiles the code and fills the caches.
  for (const { call } of options.subjects) await call()
  for (let round = 0; round < options.rounds; round++) {
    for (const { name, reference, call } of rotated(options.subjects, round)) {
      const ofRound: number[] = []
      const processor = process.cpuUsage()
      for (let repetition = 0; repetition < options.repetitions; repetition++) {
        const startMs = performance.now()
        await call()
        ofRound.push(performance.now() - startMs)
      }
      const { user, system } = process.cpuUsage(processor)
      const figure = { case: options.case, round, subject: name, reference, better: 'lower' as const }
      options.write({ ...figure, quantity: 'ms', value: median(ofRound) })
      const processorMs = (user + system) / 1000 / options.repetitions
      options.write({ ...figure, quantity: 'processor ms', value: processorMs })
      times.get(name)!.push(...ofRound)
    }
  }
  return times
}
