import { type ReactNode, Suspense, useState } from 'react'
import { withTexts } from '../../i18n/translations.ts'
import { lazyPart } from '../lazy-part.tsx'
import { isConflict, maximumAttempts } from './conflicts.ts'
import { differing, mergeDrafts } from './shared-draft.ts'

const ConflictDialog = lazyPart(() => withTexts('conflict', import('./conflict-dialog.tsx')), 'ConflictDialog')

interface Options<View, Draft> {
  /** The stored settings, as they are known now. */
  view: View
  draftOf: (view: View) => Draft
  /** Loads them again. */
  load: () => Promise<View>
  /** Sends what differs from `base`, with `ifMatch(base)`; undefined: fields that were emptied and cannot be empty keep their values. */
  send: (draft: Draft, base: View) => Promise<unknown> | undefined
  /** The settings do not exist yet: they are sent without a change too. */
  isNew?: boolean
  labelOf: (field: keyof Draft) => string
  /** The value of a field that is an object. */
  textOf?: (field: keyof Draft, value: unknown) => unknown
  /**
   * Fields that are empty until a secret is typed, each with the end of the stored one. undefined: none of it is shown, so every change of
   * another person may be one of the secret.
   */
  secrets?: Partial<Record<keyof Draft, (view: View) => string | undefined>>
}

type Secrets<View, Draft> = NonNullable<Options<View, Draft>['secrets']>

const hidden = '••••'

interface Conflict<View, Draft> {
  latest: View
  mine: Draft
  theirs: Draft
  fields: (keyof Draft)[]
}

/**
 * The form of settings that several people may change at the same time. It keeps the settings that it was filled from: only fields that this person
 * changed are sent. Changes of different fields are joined; where both changed a field, a dialog shows both values.
 */
export function useSharedDraft<View extends { version: string }, Draft extends object>(options: Options<View, Draft>) {
  const { view, draftOf } = options
  const [base, setBase] = useState(view)
  const [draft, setDraft] = useState(() => draftOf(view))
  const [conflict, setConflict] = useState<Conflict<View, Draft>>()
  const isDirty = differing(draftOf(base), draft).length > 0
  const fill = (stored: View, shown = draftOf(stored)) => {
    setBase(stored)
    setDraft(shown)
  }
  // Without changes of this person, the form shows what is stored.
  if (view.version !== base.version && !isDirty) fill(view)

  /** Fills the form, and keeps what was typed since it held `sent`. */
  const refill = (stored: View, shown: Draft, sent: Draft) => {
    setBase(stored)
    setDraft((current) => mergeDrafts(sent, current, shown).draft)
  }

  /** Resolves to whether everything is saved. Throws other errors than conflicts that can be solved. */
  async function save(wanted: Draft = draft, from: View = base, attempts = maximumAttempts): Promise<boolean> {
    try {
      if (options.isNew === true || differing(draftOf(from), wanted).length > 0) await options.send(wanted, from)
      const stored = await options.load()
      refill(stored, draftOf(stored), wanted)
      return true
    } catch (error) {
      if (!isConflict(error) || attempts === 1) throw error
    }
    const latest = await options.load()
    const theirs = draftOf(latest)
    const merged = mergeDrafts(draftOf(from), wanted, theirs, replacedSecrets(options.secrets ?? {}, from, latest))
    refill(latest, merged.draft, wanted)
    if (merged.conflicts.length === 0) return save(merged.draft, latest, attempts - 1)
    setConflict({ latest, mine: merged.draft, theirs, fields: merged.conflicts })
    return false
  }

  /** `onKeepMine`: saves once more. */
  const dialog = (onKeepMine: () => void): ReactNode =>
    conflict && (
      <Suspense>
        <ConflictDialog
          fields={describe(conflict, options)}
          onKeepMine={() => {
            setConflict(undefined)
            onKeepMine()
          }}
          onUseTheirs={() => {
            const { latest, mine, theirs, fields } = conflict
            fill(latest, { ...mine, ...Object.fromEntries(fields.map((name) => [name, theirs[name]])) })
            setConflict(undefined)
          }}
          onClose={() => setConflict(undefined)}
        />
      </Suspense>
    )

  return {
    draft,
    base,
    isDirty,
    set: (fields: Partial<Draft>) => setDraft((current) => ({ ...current, ...fields })),
    discard: () => fill(view),
    /** `more`: fields that are sent next to what was typed. */
    save: (more?: Partial<Draft>) => save({ ...draft, ...more }),
    dialog,
  }
}

export type SharedDraft<View extends { version: string }, Draft extends object> = ReturnType<
  typeof useSharedDraft<View, Draft>
>

function replacedSecrets<View, Draft>(secrets: Secrets<View, Draft>, before: View, latest: View): (keyof Draft)[] {
  return (Object.keys(secrets) as (keyof Draft)[]).filter((name) => {
    const end = secrets[name]!(latest)
    return end === undefined || end !== secrets[name]!(before)
  })
}

function describe<View, Draft>(conflict: Conflict<View, Draft>, options: Options<View, Draft>) {
  const { fields, mine, theirs, latest } = conflict
  const { labelOf, textOf = (_, value) => value, secrets = {} as Secrets<View, Draft> } = options
  return fields.map((name) => {
    const label = labelOf(name)
    const secret = secrets[name]
    if (!secret) return { label, mine: textOf(name, mine[name]), theirs: textOf(name, theirs[name]) }
    const end = secret(latest)
    if (end === undefined) return { label, mine: hidden, theirs: hidden }
    return { label, mine: hidden + String(mine[name]).slice(-4), theirs: end && hidden + end }
  })
}
