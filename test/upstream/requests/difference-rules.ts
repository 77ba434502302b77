import { openingText } from '../../../src/gateway/providers/accept-call.ts'
import { resolveTraits } from '../../../src/gateway/providers/model-traits/index.ts'
import type { HostName } from '../../../src/gateway/providers/model-traits/traits.ts'
import { asObject, asObjects, type JsonObject } from '../../../src/gateway/providers/wire-json.ts'
import type { BodyDifference } from './diff-bodies.ts'
import type { OurBody } from './our-body.ts'
import type { RequestCall } from './request-call.ts'

/** The other body of the comparison. */
export type Other = 'ai-sdk' | 'recorded'
export type Who = 'ours' | 'theirs' | 'both'

export interface DifferenceContext {
  difference: BodyDifference
  host: string
  call: RequestCall
  ours: OurBody
  /** Canonical: ours and the other one. */
  bodies: readonly [JsonObject, JsonObject]
}

/** A reason why our body differs from another, by rule: no entry refers to a single recording. */
export interface KnownDifference {
  /** Formats or flavours; `*`: all. */
  hosts: readonly string[] | '*'
  /** Without positions; includes everything inside them. */
  paths: readonly string[]
  /** The bodies with a value there; `both`: two values. */
  who: readonly Who[]
  /** Absent: both. */
  against?: Other
  holds?(context: DifferenceContext): boolean
  reason: string
  source: string
}

/** Omitted, or changed to a supported value, and named in `x-adjusted-params`; unreported changes are unlisted differences. */
const adjustedFields: readonly { name: string; who: readonly Who[]; paths: readonly string[] }[] = [
  { name: 'temperature', who: ['theirs'], paths: inEveryFormat('temperature') },
  { name: 'top_p', who: ['theirs', 'both'], paths: ['p', ...inEveryFormat('top_p', 'topP')] },
  { name: 'stop', who: ['theirs', 'both'], paths: ['stop_sequences', ...inEveryFormat('stop', 'stopSequences')] },
  { name: 'seed', who: ['theirs', 'both'], paths: inEveryFormat('seed') },
  { name: 'presence_penalty', who: ['theirs'], paths: inEveryFormat('presence_penalty', 'presencePenalty') },
  { name: 'frequency_penalty', who: ['theirs'], paths: inEveryFormat('frequency_penalty', 'frequencyPenalty') },
  {
    name: 'reasoning_effort',
    who: ['ours', 'theirs', 'both'],
    paths: [
      'reasoning_effort',
      'output_config.effort',
      'outputConfig.effort',
      'additionalModelRequestFields.output_config.effort',
      'additionalModelRequestFields.reasoning_effort',
      'additionalModelRequestFields.reasoning',
      'additionalModelRequestFields.reasoningConfig',
      'generationConfig.thinkingConfig',
      'thinking',
      'think',
    ],
  },
  { name: 'user', who: ['theirs'], paths: ['user', 'metadata.user_id'] },
  { name: 'metadata', who: ['theirs', 'both'], paths: ['metadata', 'requestMetadata'] },
  { name: 'service_tier', who: ['theirs', 'both'], paths: ['service_tier'] },
]

export const adjustedEntries: readonly KnownDifference[] = adjustedFields.map(
  ({ name, who, paths }): KnownDifference => ({
    hosts: '*',
    paths,
    who,
    holds: ({ ours }) => ours.adjusted.includes(name),
    reason: `The model or the host does not accept the requested \`${name}\`; \`x-adjusted-params\` names it.`,
    source: 'src/gateway/providers/model-traits and the flavours, which contain the sources',
  }),
)

/** Paths of a sampling field: at the top level, or inside the format's object for them. */
export function inEveryFormat(snake: string, camel = snake): string[] {
  return [snake, `options.${snake}`, `generationConfig.${camel}`, `inferenceConfig.${camel}`]
}

/** Other turns with the same words in the same order. */
export function sameWordsInOtherTurns({ bodies }: DifferenceContext): boolean {
  const [ours, theirs] = bodies.map((body) => asObjects(body.messages ?? body.contents))
  return ours!.length !== theirs!.length && wordsOf(ours) === wordsOf(theirs)
}

function wordsOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(wordsOf).join('')
  if (typeof value === 'string') return value.replace(openingText, '').replace(/\s/g, '')
  const { content, parts, text } = asObject(value)
  return wordsOf(content ?? parts ?? text ?? [])
}

/** Values without an effect, by the last part of their path. */
const neutralValues: Readonly<Record<string, readonly unknown[]>> = {
  presence_penalty: [0],
  frequency_penalty: [0],
  presencePenalty: [0],
  frequencyPenalty: [0],
  service_tier: ['auto', 'default'],
}

export function isNeutral({ difference: { path, theirs } }: DifferenceContext): boolean {
  return neutralValues[path.split('.').at(-1)!]?.includes(theirs) ?? false
}

export const traitsOf = ({ host, ours }: DifferenceContext) => resolveTraits(host as HostName, ours.wireModel)
export const temperatureOf = ({ call }: DifferenceContext) =>
  call.kind === 'chat' ? (call.request.temperature ?? 0) : 0
export const forbidsTools = ({ call }: DifferenceContext) => call.kind === 'chat' && call.request.toolChoice === 'none'
export const sameEffort = ({ ours: { adjusted }, bodies: [ours, theirs] }: DifferenceContext) =>
  adjusted.includes('reasoning_effort') ||
  asObject(ours.outputConfig).effort === asObject(asObject(theirs.additionalModelRequestFields).output_config).effort

export const isMistralId = (id: unknown) => typeof id === 'string' && /^[a-zA-Z0-9]{9}$/.test(id)
