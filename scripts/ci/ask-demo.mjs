// Uploads a document to the demo of a running service and asks about it: node ask-demo.mjs URL LOG, where LOG has what the first start printed.
import { readFileSync } from 'node:fs'

const [url, log] = process.argv.slice(2)
const printed = readFileSync(log, 'utf8')
const value = (name) => new RegExp(`export ${name}=(\\S+)`).exec(printed)[1]
const headers = { 'x-api-key': value('PORTICO_API_KEY') }

async function call(path, init = {}) {
  const response = await fetch(url + path, {
    ...init,
    headers: { ...headers, ...init.headers },
    signal: AbortSignal.timeout(20_000),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}

const form = new FormData()
form.append('file', new Blob(['The canteen of the harbour office opens at seven in the morning.\n']), 'canteen.txt')
const { id } = await call(`/v1/documents?spaceId=${value('PORTICO_SPACE_ID')}`, { method: 'POST', body: form })
for (let attempt = 0; ; attempt++) {
  const { status } = await call(`/v1/documents/${id}`)
  if (status === 'ready') break
  if (status === 'failed' || attempt === 300) throw new Error(`the document is ${status}`)
  await new Promise((resolve) => setTimeout(resolve, 200))
}
const answer = await call(`/v1/endpoints/${value('PORTICO_ENDPOINT_ID')}/chat`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'service-enable-inline-sources': 'true' },
  body: JSON.stringify({ messages: [{ role: 'user', content: 'When does the canteen of the harbour office open?' }] }),
})
if (!JSON.stringify(answer).includes('canteen.txt'))
  throw new Error(`the answer has no citation: ${JSON.stringify(answer)}`)
