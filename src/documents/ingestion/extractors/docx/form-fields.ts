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

/** True for a switch of WordprocessingML that is on; a missing value means on. */
export function isOn(value: string | undefined): boolean {
  return value === undefined || !['0', 'false', 'off'].includes(value)
}
