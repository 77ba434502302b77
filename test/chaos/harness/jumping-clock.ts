import { renameSync, writeFileSync } from 'node:fs'

/** The wall clock of a process that a test moves. Durations (`performance.now()`, timers) stay as they are, as when a machine's clock is set. */
export interface JumpingClock {
  /** For NODE_OPTIONS of the process; it concerns its threads too. */
  nodeOptions: string
  /** Sets the clock of the process this far from the real one. It follows within `noticedWithinMs`. */
  jumpTo(offsetMs: number): void
}

export const noticedWithinMs = 100

export function createJumpingClock(file: string): JumpingClock {
  const jumpTo = (offsetMs: number) => {
    // A reader never sees half of it.
    writeFileSync(`${file}.new`, String(offsetMs))
    renameSync(`${file}.new`, file)
  }
  jumpTo(0)
  const module = `import { readFileSync } from 'node:fs'
    const Real = Date
    let offsetMs = 0
    const read = () => { try { offsetMs = Number(readFileSync(${JSON.stringify(file)}, 'utf8')) } catch {} }
    setInterval(read, ${noticedWithinMs / 2}).unref()
    globalThis.Date = class Date extends Real {
      constructor(...given) { given.length === 0 ? super(Real.now() + offsetMs) : super(...given) }
      static now() { return Real.now() + offsetMs }
    }`
  return { nodeOptions: `--import=data:text/javascript,${encodeURIComponent(module)}`, jumpTo }
}
