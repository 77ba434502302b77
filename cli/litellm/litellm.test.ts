import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { LitellmConfig, LitellmTeam } from './litellm-config.ts'
import { type PlanOptions, planImport } from './plan-import.ts'
import { nameProvider } from './provider-names.ts'
import { perMillion } from './read-values.ts'

const plan = (yaml: string, options: Partial<PlanOptions> = {}, teams: LitellmTeam[] = []) =>
  planImport(parse(yaml) as LitellmConfig, teams, {
    environment: {},
    hosting: new Map(),
    defaultBudget: '0',
    ...options,
  })

describe('models', () => {
  test('entries with equal settings and keys share a provider; another key makes a second one', () => {
    const { providers, deployments } = plan(`
model_list:
  - {model_name: fast, litellm_params: {model: openai/gpt-5-mini, api_key: key-one}}
  - {model_name: large, litellm_params: {model: gpt-5, api_key: key-one}}
  - {model_name: fast, litellm_params: {model: openai/gpt-5-mini, api_key: key-two}}
`)
    expect(providers.map(({ id, secrets }) => [id, secrets.apiKey])).toEqual([
      ['openai', 'key-one'],
      ['openai-2', 'key-two'],
    ])
    expect(deployments.map(({ id, body }) => [id, body.provider, body.wireId, body.baseModel])).toEqual([
      ['openai/fast', 'openai', 'gpt-5-mini', 'gpt-5-mini'],
      ['openai/large', 'openai', 'gpt-5', 'gpt-5'],
      ['openai-2/fast', 'openai-2', 'gpt-5-mini', 'gpt-5-mini'],
    ])
  })

  test('reads keys from the environment and names those that are missing', () => {
    const yaml = `
model_list:
  - {model_name: a, litellm_params: {model: openai/a, api_key: os.environ/FIRST}}
  - {model_name: b, litellm_params: {model: mistral/b, api_key: os.environ/SECOND}}
  - {model_name: c, litellm_params: {model: groq/c}}
  - {model_name: d, litellm_params: {model: deepseek/d}}
environment_variables: {GROQ_API_KEY: from-the-file}
`
    const { providers, report } = plan(yaml, { environment: { FIRST: 'value' } })
    expect(providers.map(({ id, secrets }) => [id, secrets.apiKey])).toEqual([
      ['openai', 'value'],
      ['groq', 'from-the-file'],
    ])
    const skipped = report.remarks.filter(({ kind }) => kind === 'skipped').map(({ text }) => text)
    expect(skipped).toEqual([expect.stringContaining('no SECOND'), expect.stringContaining('no DEEPSEEK_API_KEY')])
  })

  test("does not send OpenAI's key to another host, and does not use OpenAI's prices there", () => {
    const { providers } = plan(
      'model_list: [{model_name: a, litellm_params: {model: openai/a, api_base: "http://llm.example:8000/v1"}}]',
      { environment: { OPENAI_API_KEY: 'secret' } },
    )
    expect(providers).toEqual([
      {
        id: 'llm-example-8000',
        declaration: { format: 'openai', baseUrl: 'http://llm.example:8000/v1', models: 'declared' },
        secrets: {},
      },
    ])
  })

  test('divides calls by weight, else by rpm, where a model has several deployments', () => {
    const { deployments } = plan(`
model_list:
  - {model_name: a, litellm_params: {model: openai/a, api_key: one, rpm: 30}}
  - {model_name: a, litellm_params: {model: openai/a, api_key: two}, rpm: 10}
  - {model_name: b, litellm_params: {model: openai/b, api_key: one, rpm: 5}}
`)
    expect(deployments.map(({ body }) => body.weight)).toEqual([30, 10, undefined])
  })

  test('reads clouds: credentials, region and the declared hosting', () => {
    const { providers, deployments, report } = plan(
      `
model_list:
  - model_name: claude
    litellm_params: {model: bedrock/converse/eu-central-1/anthropic.claude-v9, aws_access_key_id: AK, aws_secret_access_key: SK}
  - {model_name: gpt, litellm_params: {model: azure/my-gpt, api_base: "https://x.openai.azure.com/", api_key: k, api_version: "2025-04-01-preview"}, model_info: {base_model: azure/gpt-5}}
`,
      { hosting: new Map([['bedrock', 'eu']]) },
    )
    expect(providers).toEqual([
      {
        id: 'bedrock',
        declaration: { format: 'bedrock', region: 'eu-central-1', hosting: 'eu', models: 'declared' },
        secrets: { credentials: 'AK:SK' },
      },
      {
        id: 'azure',
        declaration: {
          format: 'azure',
          baseUrl: 'https://x.openai.azure.com',
          apiVersion: '2025-04-01-preview',
          models: 'declared',
        },
        secrets: { apiKey: 'k' },
      },
    ])
    expect(deployments[1]!.body).toMatchObject({ model: 'gpt', wireId: 'my-gpt', baseModel: 'gpt-5' })
    expect(report.remarks).toMatchObject([
      { setting: 'provider azure', text: expect.stringContaining('--hosting azure=') },
    ])
  })

  test('imports prices, kinds, sizes and aliases', () => {
    const { models, deployments } = plan(`
model_list:
  - model_name: house
    litellm_params: {model: hosted_vllm/llama, api_base: "http://gpu:8000/v1"}
    model_info: {mode: embedding, max_input_tokens: 8192, input_cost_per_token: 1.5e-7, output_cost_per_token: 0.0000006}
router_settings: {model_group_alias: {cheap: house, hidden: {model: house, hidden: true}, other: missing}}
`)
    expect(models).toEqual([
      { id: 'house', facts: { kind: 'embedding', contextTokens: 8192, aliases: ['cheap', 'hidden'] } },
    ])
    expect(deployments[0]!.prices).toEqual({ input: '0.15', output: '0.6' })
  })

  test('a pattern offers the models of the price list, and unknown providers are skipped', () => {
    const { providers, deployments, report } = plan(`
model_list:
  - {model_name: "anthropic/*", litellm_params: {model: "anthropic/*", api_key: k}}
  - {model_name: odd, litellm_params: {model: mistralai/mistral-7b}}
  - {model_name: picture, litellm_params: {model: openai/dall-e-3, api_key: k}, model_info: {mode: image_generation}}
`)
    expect(providers).toMatchObject([{ id: 'anthropic', declaration: { models: 'snapshot' } }])
    expect(deployments).toEqual([])
    expect(report.remarks.map(({ kind }) => kind)).toEqual(['differs', 'skipped', 'skipped'])
  })
})

describe('teams', () => {
  const budgets = (teams: Partial<LitellmTeam>[], defaultBudget = '5') =>
    plan(
      '{}',
      { defaultBudget },
      teams.map((team, at) => ({ team_id: `t${at}`, ...team })),
    ).organisations

  test('a budget keeps its amount for a month, scales from a shorter period, and never renews otherwise', () => {
    const made = budgets([
      { max_budget: 100, budget_duration: '1mo' },
      { max_budget: 100, budget_duration: '30d' },
      { max_budget: 10, budget_duration: '1d' },
      { max_budget: 7, budget_duration: '1w' },
      { max_budget: 70 },
      {},
    ])
    expect(made.map(({ monthlyBudgetUsd }) => monthlyBudgetUsd)).toEqual([
      '100.00',
      '100.00',
      '300.00',
      '30.00',
      '5',
      '5',
    ])
  })

  test('keeps limits, blocked teams and lists of models', () => {
    const [first, second] = budgets([
      { team_alias: 'Research', rpm_limit: 60, tpm_limit: 90_000, models: ['fast'], blocked: true },
      { models: ['all-proxy-models'] },
    ])
    expect(first).toMatchObject({
      name: 'Research',
      gatewayEnabled: false,
      limits: { requestsPerMinute: 60, tokensPerMinute: 90_000 },
      models: ['fast'],
    })
    expect(second!.models).toBeUndefined()
  })
})

test('the report names every setting without an equal, and no value', () => {
  const { report } = plan(`
litellm_settings: {num_retries: 2, fallbacks: [{a: [b]}], cache: true}
general_settings: {master_key: sk-very-secret}
guardrails: [{guardrail_name: x}]
`)
  expect(report.remarks.map(({ setting }) => setting)).toEqual([
    'litellm_settings.num_retries',
    'litellm_settings.fallbacks',
    'litellm_settings.cache',
    'general_settings.master_key',
    'guardrails',
  ])
  expect(JSON.stringify(report.remarks)).not.toContain('very-secret')
})

test('a price per token becomes an exact price per million tokens', () => {
  const prices = [1.5e-7, 0.0000006, 1e-12, 0.002, 3e-6, 0, 1.25e-5, 1]
  expect(prices.map(perMillion)).toEqual(['0.15', '0.6', '0.000001', '2000', '3', '0', '12.5', '1000000'])
})

test('finds the provider of a name without a prefix', () => {
  const names = ['gpt-5', 'claude-9', 'o3', 'command-r', 'unknown', 'toString/x']
  expect(names.map((name) => nameProvider(name, undefined)?.prefix)).toEqual([
    'openai',
    'anthropic',
    'openai',
    'cohere',
    undefined,
    undefined,
  ])
  expect(nameProvider('openai/gpt-5', 'groq')).toMatchObject({ prefix: 'groq', wireId: 'openai/gpt-5' })
})
