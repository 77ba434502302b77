import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createApiClient, organisationMakers, spawnPortico } from '../../test/harness/portico.ts'

/**
 * A whole service with one model at the upstream, and an organisation that may call it. `environment` is added to the process's. With
 * `floodUrl`, `flood-model` is at a second upstream.
 */
export async function startBenchPortico(
  dataFolder: string,
  upstreamUrl: string,
  journal: string,
  environment: Record<string, string> = {},
  floodUrl?: string,
) {
  const upstreams = { bench: upstreamUrl, ...(floodUrl !== undefined && { flood: floodUrl }) }
  mkdirSync(dataFolder, { recursive: true })
  writeFileSync(
    path.join(dataFolder, 'portico.yaml'),
    JSON.stringify({
      providers: Object.entries(upstreams).map(([id, url]) => ({
        id,
        format: 'openai',
        flavour: 'generic',
        baseUrl: `${url}/v1`,
        apiKey: 'sk-bench',
        hosting: 'us',
        limits: { maximumConnections: 20_000 },
      })),
      models: Object.keys(upstreams).map((provider) => ({
        id: `${provider}-model`,
        maxOutputTokens: 4096,
        contextTokens: 128_000,
        deployments: [{ provider, prices: { input: '0.15', output: '0.6' } }],
      })),
    }),
  )
  const operatorToken = 'bench-operator-token-of-this-run-only'
  const running = await spawnPortico({
    PORTICO_DATA_DIR: dataFolder,
    PORTICO_CONFIG: path.join(dataFolder, 'portico.yaml'),
    PORTICO_OPERATOR_TOKEN: operatorToken,
    PORTICO_DEMO: 'false',
    PORTICO_LOG_LEVEL: 'warn',
    PORTICO_LEDGER_JOURNAL: journal,
    ...environment,
  })
  const operator = createApiClient(running.url, operatorToken)
  const makers = organisationMakers(running.url, operator)
  const { apiKey } = await makers.createOrganisation({
    monthlyBudgetUsd: '100000',
    limits: { concurrentCalls: 10_000 },
  })
  return { url: running.url, apiKey, operator, child: running.child, stop: () => running.kill('SIGTERM') }
}
