/** The options of the command that starts the service. */

export interface StartOptions {
  /** Settings by their names in the configuration file. */
  settings: { 'server.role'?: string; 'server.processes'?: string }
  /** Of a process that the supervisor has started, from 1. */
  processNumber: number | undefined
  /** The process whose end stops the service: npm. */
  stopWith: number | undefined
}

const names = { role: 'server.role', processes: 'server.processes' } as const
const usage =
  'Portico starts with --role ROLE and --processes NUMBER; every other setting is in docs/reference/configuration.md.'

/** Reads `--name value` and `--name=value`. Throws an Error whose message names the wrong argument. */
export function readStartOptions(argv: readonly string[]): StartOptions {
  const options: StartOptions = { settings: {}, processNumber: undefined, stopWith: undefined }
  for (let at = 0; at < argv.length; at++) {
    const [, name = '', joined] = /^--([a-z-]+)(?:=(.*))?$/s.exec(argv[at]!) ?? []
    const isKnown = Object.hasOwn(names, name) || name === 'process' || name === 'stop-with'
    if (!isKnown) throw new Error(`${argv[at]} is not an option. ${usage}`)
    const value = joined ?? argv[++at]
    if (value === undefined || value === '') throw new Error(`--${name} needs a value. ${usage}`)
    if (name === 'process') options.processNumber = Number(value)
    else if (name === 'stop-with') options.stopWith = Number(value)
    else options.settings[names[name as keyof typeof names]] = value
  }
  return options
}
