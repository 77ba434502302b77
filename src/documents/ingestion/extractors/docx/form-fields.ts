import type { Attribute } from '../office-xml.ts'

/** Check boxes and lists of Word's older forms (`w:ffData`), whose values are not text of the document. */
export function createDocxFormFields(append: (text: string) => void) {
  let isChecked = false
  let selected = 0
  let entries: string[] = []
  return {
    open(name: string, attribute: Attribute) {
      if (name === 'w:checkBox') isChecked = false
      // w:default comes before w:checked, which counts where it is there.
      else if (name === 'w:checked') isChecked = isOn(attribute('val'))
      else if (name === 'w:default') {
        isChecked = isOn(attribute('val'))
        selected = Number(attribute('val')) || 0
      } else if (name === 'w:ddList') {
        entries = []
        selected = 0
      } else if (name === 'w:result') selected = Number(attribute('val')) || 0
      else if (name === 'w:listEntry' && entries.length < maximumEntries) entries.push(attribute('val') ?? '')
    },
    close(name: string) {
      if (name === 'w:checkBox') append(isChecked ? '[x]' : '[ ]')
      else if (name === 'w:ddList') append(entries[selected] ?? '')
    },
  }
}

/** Word allows 25. */
const maximumEntries = 1_000

/** Boxes of the Wingdings fonts by the last two digits of their code. */
const wingdingBoxes: Record<string, string> = {
  fe: '[x]',
  fd: '[x]',
  '78': '[x]',
  fb: '[x]',
  a8: '[ ]',
  '6f': '[ ]',
  '71': '[ ]',
  fc: '✓',
}

/** The text of a `w:sym` of a Wingdings font that stands for a check box; undefined for other symbols. */
export function wingdingBox(font: string | undefined, code: string | undefined): string | undefined {
  return /^wingdings$/i.test(font ?? '') ? wingdingBoxes[(code ?? '').slice(-2).toLowerCase()] : undefined
}

/** True for a switch of WordprocessingML that is on; a missing value means on. */
export function isOn(value: string | undefined): boolean {
  return value === undefined || !['0', 'false', 'off'].includes(value)
}
