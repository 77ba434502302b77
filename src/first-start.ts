import { setTimeout as wait } from 'node:timers/promises'
import { parsePicoUsd } from './kernel/index.ts'
import type { Service } from './service.ts'

export interface FirstStart {
  url: string
  /** Undefined where the configuration names one. */
  operatorToken: string | undefined
  /** Undefined where the configuration wants no demo. */
  demo: { apiKey: string; spaceId: string; endpointId: string } | undefined
}

const demoBudgetUsd = '25'
const demoInstructions = 'You answer questions of visitors, briefly and in a friendly tone.'

const welcome = `# Welcome to Portico

Portico puts a model gateway, document management and published Space chat behind one API key per organisation.

## Opening hours of the demo museum

The demo museum is open from Tuesday to Friday between 10:00 and 18:00. On Sundays it opens at 11:00 and closes at 17:00.
On Mondays the museum is closed.

## Tickets

A ticket costs 12 euros; children under six years enter free of charge.
`

/**
 * On the first start: an operator token, a demo organisation with its key, and a published demo Space with one document, made
 * through the same doors as any other. Undefined on every later start.
 */
export async function runFirstStart(service: Service, url: string): Promise<FirstStart | undefined> {
  const operatorToken = await service.operatorTokens.ensureFirst()
  const demo = service.config.settings.demo ? await createDemo(service) : undefined
  if (demo) await uploadWelcome(url, demo)
  if (!demo && operatorToken === undefined) return undefined
  return { url, operatorToken, demo }
}

/** A demo organisation, its key and a published Space; undefined when there is any organisation. */
async function createDemo({ organisations, spaces }: Service) {
  if ((await organisations.loadPage({ limit: 1, offset: 0 })).total > 0) return undefined
  const actor = { name: 'service', requestId: null }
  const organisation = await organisations.create(
    {
      name: 'Demo organisation',
      plan: 'enterprise',
      gatewayEnabled: true,
      gatewayOptIn: true,
      monthlyBudgetPicoUsd: parsePicoUsd(demoBudgetUsd),
    },
    actor,
  )
  const { key: apiKey } = await organisations.createKey(organisation.id, actor)
  const space = await spaces.create(
    { organisationId: organisation.id, name: 'Demo Space', instructions: demoInstructions },
    actor,
  )
  const { endpointId } = await spaces.publish(space.id, actor)
  return { apiKey, spaceId: space.id, endpointId: endpointId! }
}

/** The lines to paste and the commands that work with them. */
export function describeFirstStart({ url, operatorToken, demo }: FirstStart): string {
  return (
    (demo ? describeDemo(url, demo) : '') + (operatorToken === undefined ? '' : describeOperatorToken(operatorToken))
  )
}

function describeDemo(url: string, { apiKey, spaceId, endpointId }: NonNullable<FirstStart['demo']>): string {
  return `
This is the first start. A demo organisation and a published Space are ready; paste these lines into a shell (the key is shown only now):

export PORTICO_URL=${url}
export PORTICO_API_KEY=${apiKey}
export PORTICO_SPACE_ID=${spaceId}
export PORTICO_ENDPOINT_ID=${endpointId}

Then try the gateway, upload a document, and ask the Space:

curl -s "$PORTICO_URL/v1/gateway/chat/completions" -H "x-api-key: $PORTICO_API_KEY" -H "content-type: application/json" -d '{"model": "portico/offline", "messages": [{"role": "user", "content": "Say hello."}]}'

printf '# Garden\\n\\nThe museum garden has 120 kinds of roses and a pond with herons.\\n' | curl -s "$PORTICO_URL/v1/documents?spaceId=$PORTICO_SPACE_ID" -H "x-api-key: $PORTICO_API_KEY" -F "file=@-;filename=garden.md"

curl -s "$PORTICO_URL/v1/endpoints/$PORTICO_ENDPOINT_ID/chat" -H "x-api-key: $PORTICO_API_KEY" -H "content-type: application/json" -H "service-enable-inline-sources: true" -d '{"messages": [{"role": "user", "content": "When is the museum open on Sundays?"}]}'
`
}

function describeOperatorToken(token: string): string {
  return `
The operator token, for \`npm run portico -- …\` and /api (shown only now; set it as PORTICO_OPERATOR_TOKEN for the command line):
  ${token}
`
}

/** Longest wait for the welcome document; the service is up whether or not it has become ready by then. */
const welcomeWaitMs = 15_000

async function uploadWelcome(url: string, { apiKey, spaceId }: { apiKey: string; spaceId: string }) {
  const body = new FormData()
  body.append('file', new Blob([welcome], { type: 'text/markdown' }), 'welcome.md')
  const headers = { 'x-api-key': apiKey }
  const response = await fetch(`${url}/v1/documents?spaceId=${spaceId}`, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`the welcome document was refused: ${await response.text()}`)
  const { id } = (await response.json()) as { id: string }
  const deadline = Date.now() + welcomeWaitMs
  while (Date.now() < deadline) {
    const { status } = (await (await fetch(`${url}/v1/documents/${id}`, { headers })).json()) as { status: string }
    if (status !== 'processing') return
    await wait(100)
  }
}
