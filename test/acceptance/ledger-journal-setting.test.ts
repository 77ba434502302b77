import fs from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { freshEmbeddedPlace, serviceVariables } from '../harness/database.ts'
import { createApiClient, expectStatus, organisationMakers, spawnPortico } from '../harness/portico.ts'

it('the setting of the journal may change with any start, also after a kill, and every bill stays', async () => {
  const place = await freshEmbeddedPlace()
  const operatorToken = 'operator-token-of-the-journal-tests'
  const environment = serviceVariables(place, operatorToken)
  const folder = path.join(place.dataFolder, 'ledger-journal')
  const hasJournal = () => fs.existsSync(folder) && fs.readdirSync(folder).some((name) => name.endsWith('.segment'))
  const receipts: string[] = []
  let apiKey: string | undefined
  let organisationId: string | undefined
  for (const [journal, signal] of [
    ['database', 'SIGKILL'],
    ['local', 'SIGKILL'],
    ['database', 'SIGTERM'],
  ] as const) {
    const portico = await spawnPortico({ ...environment, PORTICO_LEDGER_JOURNAL: journal })
    const operator = createApiClient(portico.url, operatorToken)
    if (apiKey === undefined) {
      const made = await organisationMakers(portico.url, operator).createOrganisation({ monthlyBudgetUsd: '10' })
      apiKey = made.apiKey
      organisationId = made.id
    }
    const answer = await createApiClient(portico.url, apiKey)('POST', '/v1/gateway/chat/completions', {
      model: 'portico/offline',
      messages: [{ role: 'user', content: 'Hello' }],
    })
    expect(answer.status).toBe(200)
    receipts.push(answer.headers.get('x-request-id')!)
    for (const id of receipts) {
      expect(expectStatus(await operator('GET', `/api/usage/${id}`), 200)).toMatchObject({ ending: 'completed' })
    }
    const usage = expectStatus(await operator('GET', `/api/organisations/${organisationId}/usage`), 200)
    expect(usage.totals.requests).toBe(receipts.length)
    expect(expectStatus(await operator('GET', '/api/audit'), 200)).toMatchObject({ ok: true })
    expect(hasJournal()).toBe(journal === 'local')
    const last = await createApiClient(portico.url, apiKey)('POST', '/v1/gateway/chat/completions', {
      model: 'portico/offline',
      messages: [{ role: 'user', content: 'Hello' }],
    })
    // In the journal only, where there is one.
    receipts.push(last.headers.get('x-request-id')!)
    await portico.kill(signal)
  }
  await place.remove()
}, 240_000)
