import { cleanLine } from '../clean-text.ts'

/** Longest text of a cell; Excel allows no more. */
export const maximumCellCharacters = 32_767

/** Collects the text of a string item, without the pronunciation of Japanese text. */
export function createTextReader() {
  let collected = ''
  let isOpen = false
  let phonetic = 0
  return {
    start() {
      collected = ''
    },
    open(name: string) {
      if (name === 'rPh') phonetic += 1
      else if (name === 't') isOpen = phonetic === 0
    },
    close(name: string) {
      if (name === 'rPh') phonetic -= 1
      else if (name === 't') isOpen = false
    },
    text(text: string) {
      if (isOpen && collected.length < maximumCellCharacters) collected += text
    },
    take: () => cleanLine(collected.slice(0, maximumCellCharacters)),
  }
}
