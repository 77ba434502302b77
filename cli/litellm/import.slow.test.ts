import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCli, type TestCli } from '../../test/harness/cli.ts'

let cli: TestCli
let folder: string
beforeAll(async () => {
  cli = await startCli()
  folder = mkdtempSync(path.join(tmpdir(), 'portico-litellm-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await cli?.portico.stop()
})

const secret = 'sk-imported-0123456789abcdefWXYZ'
const environment = { IMPORTED_KEY: secret }

function write(name: string, text: string): string {
  const file = path.join(folder, name)
  writeFileSync(file, text)
  return file
}

const config = `
model_list:
  - model_name: import-fast
    litellm_params: {model: mistral/mistral-small-latest, api_key: os.environ/IMPORTED_KEY}
  - model_name: import-house
    litellm_params: {model: openai/llama, api_base: "http://127.0.0.1:9/v1", input_cost_per_token: 1.0e-7}
    model_info: {max_input_tokens: 8192}
  - {model_name: import-lost, litellm_params: {model: groq/x, api_key: os.environ/NOT_SET}}
router_settings:
  model_group_alias: {import-alias: import-fast}
  fallbacks: [{import-fast: [import-house]}]
`
const teams = JSON.stringify([
  { team_id: 't1', team_alias: 'Import Research', max_budget: 40, budget_duration: '1mo', rpm_limit: 30 },
  { team_id: 't2', team_alias: 'Import Sales', max_budget: 10, budget_duration: '1mo', models: ['import-house'] },
])

test('imports a configuration once, seals its keys and never prints them', async () => {
  const words = ['import', 'litellm', write('config.yaml', config), '--teams', write('teams.json', teams)]
  const results = ({ items }: { items: { kind: string; id: string; result: string }[] }) =>
    items.map(({ kind, id, result }) => `${kind} ${id} ${result}`)

  const planned = await cli.result([...words, '--dry-run'], environment)
  expect((await cli.result(['org', 'list', '--search', 'Import'])).total).toBe(0)

  const first = await cli.run([...words, '--json'], environment)
  expect(first.code).toBe(0)
  expect(results(first.json)).toEqual([
    'provider mistral created',
    'provider 127-0-0-1-9 created',
    'deployment mistral/import-fast created',
    'deployment 127-0-0-1-9/import-house created',
    'price 127-0-0-1-9/import-house created',
    'model import-fast created',
    'model import-house created',
    'organisation Import Research created',
    'organisation Import Sales created',
  ])
  expect(results(planned)).toEqual(results(first.json))
  expect(first.json.remarks).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'skipped', text: expect.stringContaining('no NOT_SET') }),
      expect.objectContaining({ kind: 'no-equal', setting: 'router_settings.fallbacks' }),
    ]),
  )

  const again = await cli.run(words, environment)
  expect(again.code).toBe(0)
  expect(again.out).not.toMatch(/ (created|changed) /)
  expect((await cli.result(['org', 'list', '--search', 'Import'])).total).toBe(2)
  for (const { out, error } of [first, again]) expect(out + error).not.toContain(secret)

  expect(await cli.result(['provider', 'show', 'mistral'])).toMatchObject({
    apiKeyLastFour: 'WXYZ',
    models: 'declared',
  })
  expect(await cli.result(['model', 'show', 'import-fast'])).toMatchObject({
    aliases: ['import-alias'],
    callableIds: ['import-fast'],
  })
  const house = await cli.result(['model', 'show', 'import-house'])
  expect(house).toMatchObject({ contextTokens: 8192, deployments: [{ prices: [{ input: '0.1' }] }] })
  const [sales, research] = (await cli.result(['org', 'list', '--search', 'Import'])).items
  expect(research).toMatchObject({ monthlyBudgetUsd: '40', limits: { requestsPerMinute: 30 }, gatewayEnabled: true })
  expect(sales.disabledModels).toContain('import-fast')
  expect(sales.disabledModels).not.toContain('import-house')
})

test('keeps a provider that exists with another key, and skips its deployments', async () => {
  await cli.run(['provider', 'add', 'deepseek', '--format', 'openai', '--flavour', 'deepseek', '--key-env', 'OWN'], {
    OWN: 'own-key-of-the-operator-1234',
  })
  const file = write(
    'other.yaml',
    'model_list: [{model_name: import-other, litellm_params: {model: deepseek/chat, api_key: os.environ/IMPORTED_KEY}}]',
  )
  const { items } = await cli.result(['import', 'litellm', file], environment)
  expect(items).toMatchObject([
    { id: 'deepseek', result: 'kept', detail: expect.stringContaining('another key') },
    { id: 'deepseek/import-other', result: 'skipped' },
  ])
  expect((await cli.result(['provider', 'show', 'deepseek'])).apiKeyLastFour).toBe('1234')
})

test('a file that is not one of LiteLLM is wrong usage, and its text is not printed', async () => {
  for (const text of ['model_list: 5', `model_list: [{api_key: ${secret}`]) {
    const done = await cli.run(['import', 'litellm', write('wrong.yaml', text)])
    expect(done.code).toBe(2)
    expect(done.error).toContain('wrong.yaml is not')
    expect(done.error).not.toContain(secret)
  }
})
