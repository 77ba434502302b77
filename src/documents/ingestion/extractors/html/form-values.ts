import type { HtmlAttribute } from './tokenizer.ts'

/** Fields whose value is shown as text. */
const textFields = /^(?:|text|search|email|tel|url|number|date|datetime-local|month|week|time)$/

/** What a field of a form shows: its value, or the mark of a box; empty for other fields and for passwords. */
export function inputText(attribute: HtmlAttribute): string {
  const type = (attribute('type') ?? '').trim().toLowerCase()
  if (type === 'checkbox' || type === 'radio') return attribute('checked') === undefined ? '[ ]' : '[x]'
  return textFields.test(type) ? (attribute('value') ?? '') : ''
}

/** True for the marks of boxes without a label, as menus of pages have them. */
export function isBareMarks(text: string): boolean {
  return text !== '' && text.replace(/\[[ x]\]/g, '').trim() === ''
}

/** Reads the options of a list that are chosen. A list without a choice shows its first one, which is mostly a prompt. */
export function createChoice() {
  let isChosen = false
  return {
    open(name: string, attribute: HtmlAttribute) {
      if (name === 'option') isChosen = attribute('selected') !== undefined
    },
    /** True where the text is shown. */
    isShown: () => isChosen,
    close(name: string) {
      if (name === 'option') isChosen = false
    },
  }
}
