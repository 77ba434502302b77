/** What the command uses of its process; tests provide their own. */
export interface CliProcess {
  environment: Record<string, string | undefined>
  writeOut(text: string): void
  writeError(text: string): void
  /** Whether progress can be redrawn in place. */
  isTerminal: boolean
  /** One line of standard input. */
  readLine(): Promise<string>
  /** All of standard input. */
  readInput(): Promise<string>
  signal: AbortSignal
}
