import type { ModelTraits, TraitRule } from './traits.ts'

/** Day on which the sources of all rules were last read. */
const checked = '2026-11-21'

export const everyModel = /^/

/** The rules that one source states about models of some hosts. */
export function rulesOf(
  hosts: TraitRule['hosts'],
  source: string,
  facts: readonly (readonly [models: RegExp, traits: ModelTraits])[],
): TraitRule[] {
  return facts.map(([models, traits]) => ({ hosts, models, traits, source, checked }))
}
