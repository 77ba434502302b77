import { execFile, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../test/harness/free-port.ts'

/** Other gateways in front of the bench's upstream. Each is started as its documentation says, with one process and without an account. */

export interface Peer {
  name: string
  /** The base of its OpenAI-compatible API, without `/v1`. */
  url: string
  pid: number
  headers: Record<string, string>
  /** Its name for the model of the bench. */
  model?: string
  stop(): void
}

interface Place {
  /** An empty folder. */
  folder: string
  port: number
  upstream: string
}

interface Recipe {
  name: string
  /** The program's arguments, and what it reads from its environment. */
  prepare(place: Place): { args: string[]; env?: Record<string, string> }
  /** Where the program has no option for it. */
  port?: number
  model?: string
}

const model = 'bench-model'

/** By the option of `npm run bench:gateway` that names the program. */
export const recipes = {
  /** docs.litellm.ai/docs/proxy/configs */
  litellm: {
    name: 'LiteLLM',
    prepare({ folder, port, upstream }) {
      const file = path.join(folder, 'config.yaml')
      const parameters = { model: `openai/${model}`, api_base: `${upstream}/v1`, api_key: 'sk-bench' }
      writeFileSync(file, JSON.stringify({ model_list: [{ model_name: model, litellm_params: parameters }] }))
      return { args: ['--config', file, '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1'] }
    },
  },
  /** docs.getbifrost.ai/quickstart/gateway/setting-up */
  bifrost: {
    name: 'Bifrost',
    model: `openai/${model}`,
    prepare({ folder, port, upstream }) {
      const openai = {
        keys: [{ name: 'bench', value: 'sk-bench', models: [model], weight: 1 }],
        network_config: { base_url: upstream },
      }
      writeFileSync(path.join(folder, 'config.json'), JSON.stringify({ providers: { openai } }))
      return { args: ['-app-dir', folder, '-host', '127.0.0.1', '-port', String(port), '-log-level', 'error'] }
    },
  },
  /** aigateway.envoyproxy.io/docs/cli/run */
  aigw: {
    name: 'Envoy AI Gateway',
    port: 1975,
    prepare: ({ upstream }) => ({
      args: ['run'],
      env: { OPENAI_BASE_URL: `${upstream}/v1`, OPENAI_API_KEY: 'sk-bench' },
    }),
  },
} satisfies Record<string, Recipe>

const startMs = 60_000

/** Starts a peer that is installed at `program`. Undefined, with a message, where it does not answer in time. */
export async function startPeer(
  recipe: Recipe,
  options: { program: string; folder: string; upstream: string },
): Promise<Peer | undefined> {
  const { program, folder, upstream } = options
  mkdirSync(folder, { recursive: true })
  const port = recipe.port ?? (await freePort())
  const { args, env } = recipe.prepare({ folder, port, upstream })
  const child = spawn(program, args, {
    stdio: 'ignore',
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, ...env },
  })
  process.on('exit', () => child.kill('SIGKILL'))
  let hasEnded = false
  for (const event of ['error', 'exit']) child.on(event, () => (hasEnded = true))
  const url = `http://127.0.0.1:${port}`
  if (await answers(url, startMs, () => hasEnded)) {
    const name = `${recipe.name} ${await versionOf(program)}`.trim()
    return { name, url, pid: child.pid!, headers: {}, model: recipe.model, stop: () => child.kill('SIGKILL') }
  }
  child.kill('SIGKILL')
  console.log(`${recipe.name} is skipped: ${program} does not answer at ${url}`)
  return undefined
}

/** The first number in what the program prints for `--version`. */
async function versionOf(program: string): Promise<string> {
  const said = await promisify(execFile)(program, ['--version'], { timeout: 20_000 }).catch(() => undefined)
  return /\d+\.\d+[\w.-]*/.exec(`${said?.stdout}${said?.stderr}`)?.[0] ?? ''
}

/** Whether a server answers within the time, with any status, and before it is given up. */
export async function answers(url: string, withinMs: number, isGivenUp = () => false): Promise<boolean> {
  for (const endMs = performance.now() + withinMs; performance.now() < endMs && !isGivenUp();) {
    const answered = await fetch(url).then(
      () => true,
      () => false,
    )
    if (answered) return true
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return false
}
