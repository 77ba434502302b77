import type { Language } from '../language/index.ts'
import { isWeakWord } from './words.ts'

/** Words that a sentence needs to state a fact and that a passage, a list or a table leaves out. Pure data. */
const words: Readonly<Record<Language, string>> = {
  en: 'cost costs pay pays people person persons someone case cases order charge amount amounts',
  de:
    'stehen steht stand standen verfügung erfolgt erfolgen erhalten erhält bekommt nehmen genommen lassen lässt bieten bietet darf dürfen dürft sollen sollte sollten möchten wollen will gilt gelten beträgt betragen ' +
    'liegt person personen menschen leute dann sowie jeweils dabei hierfür dafür nötig notwendig kosten kostet zahlen zahlt bezahlen bezahlt hat haben',
  fr: 'faut doit doivent devoir avoir être faire fait mettre prendre prend donner obtenir coûte coûtent coûter payer paie paient possible personne personnes gens cas afin',
  es: 'puede pueden poder debe deben deber haber hay hacer hace tener tiene tienen dar estar cuesta cuestan pagar paga pagan posible personas gente caso',
  it: 'può possono potere deve devono dovere avere fare dare essere costa costano pagare paga pagano possibile persone caso',
  pt: 'pode podem poder deve devem dever haver fazer ter tem dar estar custa custam pagar paga pagam possível pessoas caso',
  nl: 'kunnen kan kunt moeten moet mogen mag hebben heeft doen gaan krijgt krijgen kosten kost betalen betaalt mogelijk mensen personen geval',
}
const sets = new Map<Language, ReadonlySet<string>>()

/** Whether a word (lower case) may be in a sentence that a passage supports and not in the passage. */
export function isLightWord(word: string, latin: Language): boolean {
  const known = sets.get(latin) ?? new Set((words[latin] ?? '').split(' '))
  sets.set(latin, known)
  return known.has(word) || isWeakWord(word, latin)
}
