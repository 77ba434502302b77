import { checkFilter, filterLimits } from '../../contract/metadata-filter.ts'
import { type OrganisationId, type SpaceId, invalidField } from '../../platform/kernel/index.ts'
import type { Space, SpaceSettings } from './space.ts'

/** The rules for new and changed Spaces. Pure. */

/** The fields to change. An absent field keeps its value, also within `settings`. */
export interface SpaceChange {
  name?: string | undefined
  instructions?: string | undefined
  model?: string | undefined
  settings?: { [Name in keyof SpaceSettings]?: SpaceSettings[Name] | undefined } | undefined
}

export type NewSpace = SpaceChange & { organisationId: OrganisationId; name: string; model: string }

export const defaultSpaceSettings: SpaceSettings = Object.freeze({
  maximumPassages: 30,
  // About 17 passages of English. A larger context costs with each answer, and the best passages come first.
  maximumPassageTokens: 8_000,
  // An answer from whole files then costs no more than one from a search.
  wholeSpaceTokens: 6_000,
  baseTierFallback: false,
  temperature: null,
  maximumOutputTokens: null,
  maximumToolCostUsd: null,
  keepUnansweredQuestions: false,
  keepConversations: false,
  conversationDays: 30,
  queryRewriting: 'auto',
  attribution: 'auto',
  ocr: 'auto',
  ocrLanguages: [],
  requiredFilter: [],
})

const maximumSpaceNameLength = 200
/** About 12,000 tokens: long enough for a handbook of instructions, short enough for every model's context. */
const maximumInstructionsLength = 50_000
const maximumModelIdLength = 300
/** Even at the largest chunk size, this many passages fill a small part of a current model's context window. */
const maximumPassagesLimit = 50
/** One passage of the largest size fits into the least; the most is 50 of them. */
const passageTokensLimits = { least: 500, most: 50_000 }
/** US dollars. */
const maximumToolCostLimit = 1_000
/** As long as usage is reported. */
const maximumConversationDays = 400
/** Each one more makes the recognition of a page slower and less certain. */
const maximumOcrLanguages = 3
/** As Tesseract names its languages. */
const ocrLanguage = /^[a-z]{3}(_[a-z]{3,6})?$/

/** More would hardly be given with each request. */
const maximumRequiredFields = 5

/** A field that a filter can restrict. */
const isFieldName = (name: string) => checkFilter({ [name]: true }) === null && !combiners.includes(name)
const combiners = ['and', 'or', 'not']

/** A new, unpublished Space. Throws `invalid_request` with the field that breaks a rule. */
export function makeSpace(id: SpaceId, given: NewSpace, nowMs: number): Space {
  const blank: Space = {
    id,
    organisationId: given.organisationId,
    name: '',
    instructions: '',
    model: '',
    settings: defaultSpaceSettings,
    published: false,
    endpointId: null,
    createdAt: nowMs,
    updatedAt: nowMs,
  }
  return changeSpace(blank, given, nowMs)
}

/** The Space after the change. Throws `invalid_request` with the field that breaks a rule. */
export function changeSpace(current: Space, change: SpaceChange, nowMs: number): Space {
  const givenSettings = Object.entries(change.settings ?? {}).filter(([, value]) => value !== undefined)
  const next: Space = {
    ...current,
    name: change.name ?? current.name,
    instructions: change.instructions ?? current.instructions,
    model: change.model ?? current.model,
    settings: { ...current.settings, ...Object.fromEntries(givenSettings) },
    updatedAt: nowMs,
  }
  assertFields(next)
  return next
}

function assertFields({ name, instructions, model, settings }: Space): void {
  assertField('name', name.trim() !== '' && name.length <= maximumSpaceNameLength, 'must have 1 to 200 characters.')
  assertField('instructions', instructions.length <= maximumInstructionsLength, 'must have at most 50000 characters.')
  assertField('model', model.trim() !== '' && model.length <= maximumModelIdLength, 'must be the id of a model.')
  const { maximumPassages, maximumPassageTokens, wholeSpaceTokens } = settings
  const { temperature, maximumOutputTokens, maximumToolCostUsd, conversationDays, ocrLanguages, requiredFilter } =
    settings
  const { least, most } = passageTokensLimits
  assertWhole('settings.maximumPassages', maximumPassages, 1, maximumPassagesLimit)
  assertWhole('settings.maximumPassageTokens', maximumPassageTokens, least, most)
  assertWhole('settings.wholeSpaceTokens', wholeSpaceTokens, 0, most)
  assertField(
    'settings.temperature',
    temperature === null || (temperature >= 0 && temperature <= 2),
    'must be between 0 and 2, or null.',
  )
  assertField(
    'settings.maximumOutputTokens',
    maximumOutputTokens === null || (Number.isInteger(maximumOutputTokens) && maximumOutputTokens >= 1),
    'must be a whole number above 0, or null.',
  )
  assertField(
    'settings.maximumToolCostUsd',
    maximumToolCostUsd === null || (maximumToolCostUsd >= 0 && maximumToolCostUsd <= maximumToolCostLimit),
    `must be between 0 and ${maximumToolCostLimit}, or null.`,
  )
  assertWhole('settings.conversationDays', conversationDays, 1, maximumConversationDays)
  assertField(
    'settings.ocrLanguages',
    ocrLanguages.length <= maximumOcrLanguages && ocrLanguages.every((code) => ocrLanguage.test(code)),
    `must be at most ${maximumOcrLanguages} codes such as deu or chi_sim.`,
  )
  assertField(
    'settings.requiredFilter',
    requiredFilter.length <= maximumRequiredFields && requiredFilter.every(isFieldName),
    `must be at most ${maximumRequiredFields} names of metadata fields, each of 1 to ${filterLimits.nameCharacters} characters.`,
  )
}

function assertWhole(param: string, value: number, least: number, most: number): void {
  const isWithin = Number.isInteger(value) && value >= least && value <= most
  assertField(param, isWithin, `must be a whole number from ${least} to ${most}.`)
}

function assertField(param: string, holds: boolean, rule: string): void {
  if (!holds) throw invalidField(param, `${param} ${rule}`)
}
