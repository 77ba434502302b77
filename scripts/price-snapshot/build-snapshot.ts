import { ceilDivide, formatAttoUsd, parseAttoUsd } from '../../src/platform/kernel/index.ts'
import type { PriceSnapshot, SnapshotModel, SnapshotPrices } from '../../src/gateway/models/index.ts'
import { listSources, type ListSource } from './lists.ts'
import {
  describePrices,
  genaiRow,
  litellmRow,
  modelsDevRow,
  type LitellmEntry,
  type ModelsDevEntry,
  type SourceTables,
  type TablePrices,
  type TableRow,
} from './source-tables.ts'

/** Day of the newest table; models that a provider had switched off by then are omitted. */
const snapshotDate = '2026-08-01'

const rules = [
  'A price is taken where two of the three tables agree on input and output; where none agree, the newest table (LiteLLM) stands. `disagreement` tells what the others said.',
  'Prices that a table announces for a later day are kept in `later`, where that table agrees on today’s price.',
  'A price of zero in a community table is left out: it means unknown as often as free. An operator can state zero.',
  'A cache-write price below the input price is a slip in the table and is left out (the input price counts then); so is a cache-read price above the input price.',
  'A price of cache writes that are kept for an hour is left out if it is below the price of a write or above its double (twice the input counts then).',
  'A regional list that lacks the long-prompt prices of the plain list gets them in proportion to its input price, rounded up.',
  'OpenAI’s EU list is the plain list times the published regional uplift, for the models that have one, and the plain price for the rest.',
  'Models that answer only through other endpoints, charge per search, or speak, draw or film are left out. So is what had been switched off by the date of the snapshot.',
]

const notChat =
  /audio|realtime|image|tts|transcribe|speech|voxtral|whisper|search-(preview|api)|-live|computer-use|moderation|container|guard|safeguard|robotics|omni|lyria|imagine|veo|deep-research|multi-agent|native|ocr/

export function buildSnapshot(tables: SourceTables): PriceSnapshot {
  const lists: PriceSnapshot['lists'] = {}
  for (const source of listSources) lists[source.name] = { ownedBy: source.ownedBy, models: buildList(tables, source) }
  for (const source of listSources)
    if (source.plain) inheritSteps(lists[source.name]!.models, lists[source.plain]!.models)
  lists['openai-eu'] = { ownedBy: 'openai', models: regionalOpenai(tables, lists.openai!.models) }
  return {
    date: snapshotDate,
    licence: 'Facts compiled from MIT-licensed tables; see NOTICE.md',
    sources: [
      {
        name: 'BerriAI/litellm (copy in Prajwalsrinvas/token-tariff)',
        date: '2026-08-01',
        commit: '77b8722619d6',
        licence: 'MIT',
      },
      { name: 'pydantic/genai-prices', date: '2026-07-25', commit: 'c885e328941f', licence: 'MIT' },
      { name: 'anomalyco/models.dev', date: '2026-07-02', commit: 'f3fc69229967', licence: 'MIT' },
    ],
    rules,
    lists: Object.fromEntries(Object.entries(lists).sort(([left], [right]) => left.localeCompare(right))),
  }
}

interface Candidate {
  wireId: string
  litellm: LitellmEntry | undefined
  modelsDev: ModelsDevEntry | undefined
}

function buildList(tables: SourceTables, source: ListSource): SnapshotModel[] {
  const canonicalOf = source.canonicalOf ?? ((wireId: string) => wireId)
  const models = new Map<string, SnapshotModel>()
  for (const candidate of candidatesOf(tables, source)) {
    if (source.leaveOut?.test(candidate.wireId) || !isCallable(candidate)) continue
    const id = canonicalOf(candidate.wireId)
    const model = toModel(tables, source, candidate, id)
    if (!model) continue
    const twin = models.get(id)
    if (!twin) models.set(id, model)
    else if (candidate.wireId === id) models.set(id, { ...model, aliases: aliasesOf(twin, model) })
    else if (source.ownedBy === 'anthropic') models.set(id, { ...twin, aliases: aliasesOf(twin, model) })
    else if (candidate.wireId > (twin.wire ?? '')) models.set(id, model)
  }
  addUndated(models, source)
  return [...models.values()].sort((left, right) => left.id.localeCompare(right.id))
}

/** LiteLLM's rows of the list, then those that only models.dev has. */
function candidatesOf(tables: SourceTables, source: ListSource): Candidate[] {
  const known = source.modelsDev ? (tables.modelsDev[source.modelsDev]?.models ?? {}) : {}
  const candidates = new Map<string, Candidate>()
  for (const [key, entry] of Object.entries(tables.litellm)) {
    const wireId = source.wireIdOf(key, entry)
    if (wireId !== null) candidates.set(wireId, { wireId, litellm: entry, modelsDev: known[wireId] })
  }
  const region = /^bedrock(?:-(.+))?$/.exec(source.name)
  for (const [wireId, entry] of Object.entries(known)) {
    if (candidates.has(wireId) || entry.status === 'deprecated') continue
    if (region && (/^(eu|us|global|apac|au|jp)\./.exec(wireId)?.[1] ?? undefined) !== region[1]) continue
    candidates.set(wireId, { wireId, litellm: undefined, modelsDev: entry })
  }
  return [...candidates.values()]
}

function isCallable({ wireId, litellm, modelsDev }: Candidate): boolean {
  if (notChat.test(wireId)) return false
  const output = litellm?.supported_output_modalities ?? modelsDev?.modalities?.output
  if (output && !output.includes('text')) return false
  if (litellm?.deprecation_date !== undefined && litellm.deprecation_date <= snapshotDate) return false
  if (!litellm) return !/pro$|codex/.test(wireId)
  if (litellm.mode === 'embedding') return !/multimodal|flash/.test(wireId)
  return litellm.mode === 'chat' && (litellm.supported_endpoints?.includes('/v1/chat/completions') ?? true)
}

function toModel(tables: SourceTables, source: ListSource, candidate: Candidate, id: string): SnapshotModel | null {
  const { wireId, litellm, modelsDev } = candidate
  const chosen = choosePrices([
    { table: 'litellm', row: litellm ? litellmRow(litellm) : null },
    { table: 'models.dev', row: modelsDevRow(modelsDev) },
    { table: 'genai-prices', row: source.genai ? genaiRow(tables, source.genai, wireId, snapshotDate) : null },
  ])
  if (!chosen) return null
  const facts = modelsDev ?? findFacts(tables, source, [wireId, id, id.replace(/-\d{4}-\d{2}-\d{2}$/, '')])
  const embedding = litellm ? litellm.mode === 'embedding' : /embed|bge|e5-/.test(wireId)
  const context = modelsDev?.limit?.context ?? litellm?.max_input_tokens ?? facts?.limit?.context ?? litellm?.max_tokens
  if (context === undefined || context <= 0 || (chosen.row.prices.output === 0n && !embedding)) return null
  const { prices, notes } = sanePrices(chosen.row.prices)
  const output = maximumOutput(candidate, facts) ?? context
  return {
    id,
    ...(wireId === id ? {} : { wire: wireId }),
    ...(source.ownedBy === 'anthropic' && wireId !== id ? { aliases: [wireId] } : {}),
    ...(embedding ? { kind: 'embedding' as const } : {}),
    contextTokens: Math.max(context, litellm?.max_input_tokens ?? 0),
    ...(litellm?.max_input_tokens ? { maxInputTokens: litellm.max_input_tokens } : {}),
    maxOutputTokens: embedding ? 0 : output,
    ...(litellm?.output_vector_size ? { dimensions: litellm.output_vector_size } : {}),
    ...(facts?.release_date ? { released: facts.release_date } : releasedFromId(wireId)),
    ...(litellm?.deprecation_date ? { retires: litellm.deprecation_date } : {}),
    ...(modelsDev?.status === 'deprecated' ? { deprecated: true as const } : {}),
    ...((facts?.reasoning ?? litellm?.supports_reasoning) && !embedding ? { reasoningModel: true as const } : {}),
    ...(rejectsTemperature(id, facts) && !embedding ? { temperature: false as const } : {}),
    ...toDecimals(prices),
    ...(chosen.row.later.length > 0
      ? { later: chosen.row.later.map(({ date, prices }) => ({ date, ...toDecimals(sanePrices(prices).prices) })) }
      : {}),
    ...(chosen.disagreement ? { disagreement: chosen.disagreement } : {}),
    ...(notes.length > 0 ? { note: notes.join('; ') } : {}),
  }
}

/** LiteLLM repeats the context if it does not know the cap; then the cap of models.dev is used. */
function maximumOutput({ litellm, modelsDev }: Candidate, facts: ModelsDevEntry | undefined): number | undefined {
  const repeated = litellm?.max_output_tokens === litellm?.max_input_tokens
  const known = repeated ? undefined : litellm?.max_output_tokens
  return known ?? modelsDev?.limit?.output ?? facts?.limit?.output ?? litellm?.max_output_tokens ?? litellm?.max_tokens
}

/** Two tables that agree win over one; else the first of the list, which is the newest. */
function choosePrices(
  rows: { table: string; row: TableRow | null }[],
): { row: TableRow; disagreement: string | null } | null {
  const stated = rows.filter(
    (entry): entry is { table: string; row: TableRow } => entry.row !== null && entry.row.prices.input > 0n,
  )
  const priceOf = (entry: { row: TableRow }) => describePrices(entry.row.prices)
  const agreed = stated.find((entry) => stated.filter((other) => priceOf(other) === priceOf(entry)).length > 1)
  const chosen = agreed ?? stated[0]
  if (!chosen) return null
  const others = stated.filter((entry) => priceOf(entry) !== priceOf(chosen))
  const later = stated.find((entry) => priceOf(entry) === priceOf(chosen) && entry.row.later.length > 0)?.row.later
  return {
    row: { prices: chosen.row.prices, later: later ?? [] },
    disagreement:
      others.length === 0
        ? null
        : `${chosen.table}${agreed ? ' and another' : ' (newest)'}; ${others.map((entry) => `${entry.table} ${priceOf(entry)}`).join(', ')}`,
  }
}

function sanePrices(prices: TablePrices): { prices: TablePrices; notes: string[] } {
  const notes: string[] = []
  let { cacheRead, cacheWrite, cacheWriteHour } = prices
  if (cacheWrite !== null && cacheWrite > 0n && cacheWrite < prices.input) {
    notes.push(`cache-write price ${formatAttoUsd(cacheWrite)} below the input price left out`)
    cacheWrite = null
  }
  if (cacheRead !== null && cacheRead > prices.input) {
    notes.push(`cache-read price ${formatAttoUsd(cacheRead)} above the input price left out`)
    cacheRead = null
  }
  if (cacheWriteHour !== null && !isHourPrice(cacheWriteHour, cacheWrite)) {
    notes.push(`one-hour cache-write price ${formatAttoUsd(cacheWriteHour)} left out`)
    cacheWriteHour = null
  }
  const steps = prices.steps.map((step) => ({
    ...step,
    cacheWrite: step.cacheWrite !== null && step.cacheWrite < step.input ? null : step.cacheWrite,
    cacheWriteHour:
      step.cacheWriteHour !== null && isHourPrice(step.cacheWriteHour, step.cacheWrite) ? step.cacheWriteHour : null,
  }))
  return { prices: { ...prices, cacheRead, cacheWrite, cacheWriteHour, steps }, notes }
}

/** Keeping a prefix longer costs more than five minutes, in all published lists less than twice as much. */
function isHourPrice(hour: bigint, write: bigint | null): boolean {
  return write !== null && hour >= write && hour <= 2n * write
}

function toDecimals(prices: TablePrices): SnapshotPrices {
  const cell = (name: string, value: bigint | null) => (value === null ? {} : { [name]: formatAttoUsd(value) })
  return {
    input: formatAttoUsd(prices.input),
    output: formatAttoUsd(prices.output),
    // In LiteLLM a cache-write price of zero means "none": OpenAI and Gemini charge writes as input.
    ...cell('cacheRead', prices.cacheRead === 0n ? null : prices.cacheRead),
    ...cell('cacheWrite', prices.cacheWrite === 0n ? null : prices.cacheWrite),
    ...cell('cacheWriteHour', prices.cacheWriteHour),
    ...cell('reasoning', prices.reasoning === prices.output || prices.reasoning === 0n ? null : prices.reasoning),
    ...(prices.steps.length > 0
      ? {
          steps: prices.steps.map((step) => ({
            above: step.above,
            input: formatAttoUsd(step.input),
            output: formatAttoUsd(step.output),
            ...cell('cacheRead', step.cacheRead),
            ...cell('cacheWrite', step.cacheWrite),
            ...cell('cacheWriteHour', step.cacheWriteHour),
          })),
        }
      : {}),
  }
}

function findFacts(tables: SourceTables, source: ListSource, ids: string[]): ModelsDevEntry | undefined {
  for (const provider of [source.modelsDev, ...(source.factsFrom ?? [])]) {
    if (provider === undefined) continue
    for (const id of ids) {
      const entry = tables.modelsDev[provider]?.models[id]
      if (entry) return entry
    }
  }
  return undefined
}

/** models.dev if it has the model; else the families that refuse it according to the providers' documentation of 2026. */
function rejectsTemperature(id: string, facts: ModelsDevEntry | undefined): boolean {
  if (facts?.temperature !== undefined) return facts.temperature === false
  return /^(o\d|gpt-5(?!.*chat)|claude-(opus-(4-[7-9]|[5-9])|sonnet-[5-9]|fable))/.test(id)
}

function releasedFromId(wireId: string): { released?: string } {
  const match = /(20\d{2})-?(0[1-9]|1[0-2])-?([0-2]\d|3[01])(?!\d)/.exec(wireId)
  return match ? { released: `${match[1]}-${match[2]}-${match[3]}` } : {}
}

function aliasesOf(...models: SnapshotModel[]): string[] {
  return [...new Set(models.flatMap((model) => [...(model.aliases ?? []), ...(model.wire ? [model.wire] : [])]))]
}

/** For some regions Azure lists only the dated model; the undated model costs the same. */
function addUndated(models: Map<string, SnapshotModel>, source: ListSource): void {
  if (!source.name.startsWith('azure-')) return
  for (const model of [...models.values()].sort((left, right) => left.id.localeCompare(right.id))) {
    const undated = model.id.replace(/-\d{4}-\d{2}-\d{2}$/, '')
    const former = models.get(undated)
    if (undated !== model.id && (!former || former.note?.startsWith('price of')))
      models.set(undated, { ...model, id: undated, wire: model.wire ?? model.id, note: `price of ${model.id}` })
  }
}

function inheritSteps(regional: SnapshotModel[], plain: SnapshotModel[]): void {
  const plainById = new Map(plain.map((model) => [model.id, model]))
  for (const model of regional) {
    const twin = plainById.get(model.id)
    if (!twin?.steps || model.steps) continue
    const scale = (price: string) => scalePrice(price, model.input, twin.input)
    model.steps = twin.steps.map((step) => ({
      above: step.above,
      input: scale(step.input),
      output: scale(step.output),
      ...(step.cacheRead ? { cacheRead: scale(step.cacheRead) } : {}),
      ...(step.cacheWrite ? { cacheWrite: scale(step.cacheWrite) } : {}),
      ...(step.cacheWriteHour ? { cacheWriteHour: scale(step.cacheWriteHour) } : {}),
    }))
    model.note = [model.note, 'long-prompt prices in proportion to the plain list'].filter(Boolean).join('; ')
  }
}

function regionalOpenai(tables: SourceTables, plain: SnapshotModel[]): SnapshotModel[] {
  return plain.flatMap((model) => {
    const uplift = tables.litellm[model.wire ?? model.id]?.regional_processing_uplift_multiplier_eu
    if (uplift === undefined) return [{ ...model, note: 'no regional uplift published' }]
    const scale = (price: string) => scalePrice(price, String(uplift), '1')
    const prices = (from: SnapshotPrices): SnapshotPrices => ({
      input: scale(from.input),
      output: scale(from.output),
      ...(from.cacheRead ? { cacheRead: scale(from.cacheRead) } : {}),
      ...(from.cacheWrite ? { cacheWrite: scale(from.cacheWrite) } : {}),
      ...(from.cacheWriteHour ? { cacheWriteHour: scale(from.cacheWriteHour) } : {}),
      ...(from.reasoning ? { reasoning: scale(from.reasoning) } : {}),
      ...(from.steps ? { steps: from.steps.map((step) => ({ above: step.above, ...prices(step) })) } : {}),
    })
    return [{ ...model, ...prices(model), note: `regional uplift ${uplift}` }]
  })
}

/** `price × numerator ÷ denominator`, rounded up to an attoUsd. */
function scalePrice(price: string, numerator: string, denominator: string): string {
  return formatAttoUsd(ceilDivide(parseAttoUsd(price) * parseAttoUsd(numerator), parseAttoUsd(denominator)))
}
