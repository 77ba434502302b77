/** What the command touches of the process, so that tests can be the process. */
export interface CliProcess {
  environment: Record<string, string | undefined>
  writeOut(text: string): void
  writeError(text: string): void
  /** Progress may be redrawn in place. */
  isTerminal: boolean
  /** One line of standard input. */
  readLine(): Promise<string>
  /** All of standard input. */
  readInput(): Promise<string>
  signal: AbortSignal
}
