import type { BudgetBody, ReceiptBody, UsageBody } from '../../src/contract/usage.ts'
import type { CliCommand } from '../define.ts'
import { findOrganisationId } from '../find-organisation.ts'
import type { Output } from '../output.ts'

interface UsageOptions {
  from?: string
  to?: string
  by?: string
  csv?: boolean
}

/** `portico usage`, `portico budget` and `portico receipt` */
export function addUsageCommands(program: CliCommand): void {
  program
    .command('usage <organisation>')
    .description('What an organisation has used, summed by day, model, surface or Space.')
    .option('--from <day>', 'first day, YYYY-MM-DD; default: the first of the running period')
    .option('--to <day>', 'last day, included; default: today')
    .option('--by <dimensions>', 'any of day,model,surface,space; default: day')
    .option('--csv', 'print CSV')
    .examples('portico usage Acme --by model', 'portico usage Acme --from 2026-11-01 --by day,model --csv')
    .run(async ({ output, operator }, options: UsageOptions, reference: string) => {
      const client = operator()
      const { from, to, by, csv } = options
      const query = new URLSearchParams()
      for (const [name, value] of Object.entries({ from, to, by })) if (value !== undefined) query.set(name, value)
      query.set('format', csv ? 'csv' : 'json')
      const path = `/api/organisations/${await findOrganisationId(client, reference)}/usage?${query.toString()}`
      if (csv) return output.write(await client.getText(path))
      const usage = await loadAllPages(path, (page) => client.get<UsageBody>(page))
      output.result(usage, () => printUsage(output, usage))
    })
  program
    .command('budget <organisation>')
    .description('What is left of the running period.')
    .examples('portico budget Acme')
    .run(async ({ output, operator }, _options: object, reference: string) => {
      const client = operator()
      const id = await findOrganisationId(client, reference)
      const budget = await client.get<BudgetBody>(`/api/organisations/${id}/budget`)
      output.result(budget, () =>
        output.fields([
          ['period from', budget.period],
          ['renews', budget.periodEndsAt],
          ['budget USD', budget.budgetUsd],
          ['spent USD', budget.spentUsd],
          ['held for running calls USD', budget.heldUsd],
          ['left USD', budget.leftUsd],
          ['spent %', budget.spentPercent],
        ]),
      )
    })
  program
    .command('receipt <request-id>')
    .description('What one request cost and why. Every answer names its id in x-request-id.')
    .examples('portico receipt req_0193c5d2f1e27b3c8a4d5e6f70819203')
    .run(async ({ output, operator }, _options: object, requestId: string) => {
      const receipt = await operator().get<ReceiptBody>(`/api/usage/${encodeURIComponent(requestId)}`)
      output.result(receipt, () => printReceipt(output, receipt))
    })
}

async function loadAllPages(path: string, get: (path: string) => Promise<UsageBody>): Promise<UsageBody> {
  const usage = await get(path)
  let cursor = usage.nextCursor
  while (cursor !== null) {
    const page = await get(`${path}&cursor=${encodeURIComponent(cursor)}`)
    usage.rows.push(...page.rows)
    cursor = page.nextCursor
  }
  return { ...usage, nextCursor: null }
}

function printUsage(output: Output, { by, rows, totals, from, to, timeZone }: UsageBody) {
  const names = { day: 'day', model: 'model', surface: 'surface', space: 'spaceId' } as const
  const toCells = (row: UsageBody['totals']) => [
    row.requests,
    row.promptTokens,
    row.completionTokens,
    row.cachedTokens,
    row.billedUsd,
  ]
  output.note(`${from} to ${to}, ${timeZone}`)
  output.table(
    [...by.map((dimension) => dimension.toUpperCase()), 'REQUESTS', 'PROMPT', 'COMPLETION', 'CACHED', 'BILLED USD'],
    [
      ...rows.map((row) => [...by.map((dimension) => row[names[dimension]]), ...toCells(row)]),
      [...by.map((_dimension, index) => (index === 0 ? 'total' : '')), ...toCells(totals)],
    ],
    '',
  )
}

function printReceipt(output: Output, receipt: ReceiptBody) {
  const { usage, unitPricesUsdPerToken: price } = receipt
  output.fields([
    ['request', receipt.requestId],
    ['organisation', receipt.organisationId],
    ['surface', receipt.surface],
    ['space', receipt.spaceId ?? undefined],
    ['model', receipt.model],
    ['deployment', receipt.deploymentId],
    ['hosting', receipt.hosting],
    ['started', receipt.startedAt],
    ['period', receipt.period],
    ['ending', receipt.finishReason === null ? receipt.ending : `${receipt.ending}, ${receipt.finishReason}`],
    ['schema', receipt.schemaMismatch === null ? undefined : `not matched: ${receipt.schemaMismatch}`],
    ['tokens', receipt.estimated ? 'estimated' : 'as the provider counted'],
    ['prices', receipt.priceSource],
  ])
  output.line()
  // Cached and cache-written tokens are a part of the prompt, reasoning tokens of the completion.
  output.table(
    ['TOKENS', 'COUNT', 'USD PER TOKEN'],
    [
      ['input', usage.promptTokens - usage.cachedTokens - usage.cacheWriteTokens, price.input],
      ['cached', usage.cachedTokens, price.cacheRead],
      ['written to cache', usage.cacheWriteTokens, price.cacheWrite],
      ['output', usage.completionTokens - usage.reasoningTokens, price.output],
      ['reasoning', usage.reasoningTokens, price.reasoning],
    ],
    '',
  )
  output.line()
  output.fields([
    ['base cost USD', receipt.baseCostUsd],
    ['markup %', receipt.markupPercent],
    ['billed USD', receipt.billedUsd],
    ['written off USD', receipt.writtenOffUsd === '0' ? undefined : receipt.writtenOffUsd],
  ])
}
