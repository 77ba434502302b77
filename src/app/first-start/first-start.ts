import { type Demo, type DemoParts, ensureDemo } from './demo.ts'
import type { Parts } from '../compose.ts'

/**
 * Creates the operator token and then the demo organisation with its key, on the first start only. `print` resolves when the operating
 * system has accepted the text. Each secret is printed inside the transaction that makes it valid. After a crash a printed secret may
 * be invalid, but no valid secret is unprinted, and the next start creates what is missing. When several instances start at once on
 * one database, one of them creates each.
 */
export async function runFirstStart(
  parts: DemoParts & Pick<Parts, 'operatorTokens'>,
  { url, print }: { url: string; print: (text: string) => Promise<void> },
): Promise<void> {
  await parts.operatorTokens.ensureFirst((token) => print(describeOperatorToken(url, token)))
  if (parts.config.settings.demo) await ensureDemo(parts, (demo) => print(describeDemo(url, demo)))
}

function describeOperatorToken(url: string, token: string): string {
  return `
This is the first start. Keep the operator token: it is shown only now.

  ${token}

Open ${url}/console/setup in a browser and enter it to create your account. The command line (bin/portico) reads it from
PORTICO_OPERATOR_TOKEN; /api takes it as a bearer token.
`
}

/** The lines to paste and the commands that work with them. */
function describeDemo(url: string, { apiKey, spaceId, endpointId }: Demo): string {
  return `
A demo organisation and a published Space are ready. Paste these lines into a shell (the key is shown only now):

export PORTICO_URL=${url}
export PORTICO_API_KEY=${apiKey}
export PORTICO_SPACE_ID=${spaceId}
export PORTICO_ENDPOINT_ID=${endpointId}

Then try the gateway, upload a document, and ask the Space:

curl -s "$PORTICO_URL/v1/gateway/chat/completions" -H "x-api-key: $PORTICO_API_KEY" -H "content-type: application/json" -d '{"model": "portico/offline", "messages": [{"role": "user", "content": "Hello."}]}'

printf '# Garden\\n\\nThe museum garden has 120 kinds of roses and a pond with herons.\\n' | curl -s "$PORTICO_URL/v1/documents?spaceId=$PORTICO_SPACE_ID" -H "x-api-key: $PORTICO_API_KEY" -F "file=@-;filename=garden.md"

curl -s "$PORTICO_URL/v1/endpoints/$PORTICO_ENDPOINT_ID/chat" -H "x-api-key: $PORTICO_API_KEY" -H "content-type: application/json" -H "service-enable-inline-sources: true" -d '{"messages": [{"role": "user", "content": "When is the museum open on Sundays?"}]}'
`
}
