import { runCli } from '../../cli/run.ts'
import { type TestPortico, startPortico } from './portico.ts'

/** The command line against a Portico of its tests. */

export interface CliRun {
  code: number
  out: string
  error: string
  // Tests read answers of many shapes; each asserts the one it expects.
  // oxlint-disable-next-line typescript/no-explicit-any
  json: any
}

export interface CommandOptions {
  environment: NodeJS.ProcessEnv
  /** Standard input. */
  input?: string
  isTerminal?: boolean
}

/** The environment of commands of the operator. */
export const operatorVariables = ({ url, operatorToken }: Pick<TestPortico, 'url' | 'operatorToken'>) => ({
  PORTICO_URL: url,
  PORTICO_OPERATOR_TOKEN: operatorToken,
})

/** Runs one command. `json` is its output where the words have `--json`. */
export async function runCommand(
  words: string[],
  { environment, input = '', isTerminal = false }: CommandOptions,
): Promise<CliRun> {
  let out = ''
  let error = ''
  const code = await runCli(words, {
    environment,
    writeOut: (text) => void (out += text),
    writeError: (text) => void (error += text),
    isTerminal,
    readLine: () => Promise.resolve(input),
    readInput: () => Promise.resolve(input),
    signal: new AbortController().signal,
  })
  return { code, out, error, json: words.includes('--json') && out !== '' ? JSON.parse(out) : undefined }
}

export interface TestCli {
  portico: TestPortico
  /** Runs one command with the operator token in its environment. `input` is standard input. */
  run(words: string[], environment?: Record<string, string>, input?: string, isTerminal?: boolean): Promise<CliRun>
  /** The JSON result of a command that must succeed. */
  result(words: string[], environment?: Record<string, string>): Promise<CliRun['json']>
  /** An organisation that may use the gateway, and an environment with its key. */
  createOrganisation(): Promise<{ name: string; id: string; environment: { PORTICO_API_KEY: string } }>
}

export async function startCli(): Promise<TestCli> {
  const portico = await startPortico()
  let organisations = 0

  const run: TestCli['run'] = (words, environment, input, isTerminal) =>
    runCommand(words, { environment: { ...operatorVariables(portico), ...environment }, input, isTerminal })

  async function result(words: string[], environment?: Record<string, string>): Promise<CliRun['json']> {
    const done = await run([...words, '--json'], environment)
    if (done.code !== 0 || done.error !== '')
      throw new Error(`portico ${words.join(' ')} ended with ${done.code}: ${done.error}${done.out}`)
    return done.json
  }

  return {
    portico,
    run,
    result,
    async createOrganisation() {
      const name = `CLI organisation ${++organisations}`
      const words = ['org', 'create', name, '--plan', 'enterprise', '--budget', '50', '--enable', '--opt-in']
      const { organisation, apiKey } = await result(words)
      return { name, id: organisation.id, environment: { PORTICO_API_KEY: apiKey.key } }
    },
  }
}
