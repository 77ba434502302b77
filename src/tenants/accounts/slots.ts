import { AppError } from '../../platform/kernel/index.ts'

/** Runs at most `concurrent` tasks at a time; at most `waiting` wait, further ones are `overloaded`. */
export function createSlots({ concurrent, waiting }: { concurrent: number; waiting: number }) {
  let running = 0
  const queue: (() => void)[] = []

  return {
    async run<T>(task: () => Promise<T>): Promise<T> {
      if (running >= concurrent) {
        if (queue.length >= waiting)
          throw new AppError('overloaded', 'Too many people sign in at the moment. Try again shortly.')
        // The task that ends passes its slot on.
        await new Promise<void>((resolve) => queue.push(resolve))
      } else running++
      try {
        return await task()
      } finally {
        const next = queue.shift()
        if (next) next()
        else running--
      }
    },
  }
}
