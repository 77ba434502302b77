import { type Demo, ensureDemo } from './first-start/demo.ts'
import type { Service } from './service.ts'

/**
 * On the first start: an operator token, then a demo organisation with its key. `print` gets what a person must read, and resolves
 * when it is out of this process: a secret is printed before it becomes valid, in the transaction that makes it so. A crash thus
 * leaves a secret that was printed and never became valid, but none that is valid and that nobody has seen; the next start makes
 * and prints what is missing. Of several instances that start at once on one database, one makes each.
 */
export async function runFirstStart(
  service: Service,
  { url, print }: { url: string; print: (text: string) => Promise<void> },
): Promise<void> {
  await service.operatorTokens.ensureFirst((token) => print(describeOperatorToken(token)))
  if (service.config.settings.demo) await ensureDemo(service, (demo) => print(describeDemo(url, demo)))
}

function describeOperatorToken(token: string): string {
  return `
This is the first start. The operator token, for \`bin/portico …\` and /api (shown only now; set it as PORTICO_OPERATOR_TOKEN
for the command line):

  ${token}
`
}

/** The lines to paste and the commands that work with them. */
function describeDemo(url: string, { apiKey, spaceId, endpointId }: Demo): string {
  return `
A demo organisation and a published Space are ready; paste these lines into a shell (the key is shown only now):

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
