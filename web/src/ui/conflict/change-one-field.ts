import { isConflict, maximumAttempts } from './conflicts.ts'

interface OneField<View> {
  /** What the page shows. */
  view: View
  send: (base: View) => Promise<unknown>
  /** Loads it again; undefined: it is gone. */
  load: () => Promise<View | undefined>
}

/**
 * Changes one field that has two values, such as a switch, with `ifMatch(base)`. Two people who change it want the same value, so a conflict is
 * one of other fields: their change stays, and this one is sent again.
 */
export async function changeOneField<View>({ view, send, load }: OneField<View>): Promise<void> {
  let base = view
  for (let attempt = 1; ; attempt++) {
    try {
      await send(base)
      return
    } catch (error) {
      if (!isConflict(error) || attempt === maximumAttempts) throw error
      const latest = await load()
      if (!latest) throw error
      base = latest
    }
  }
}
