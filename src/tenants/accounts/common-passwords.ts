import { passwordLength } from '../../contract/people.ts'
import { invalidField } from '../../platform/kernel/index.ts'

/** Loads its list at the first use: 49,000 passwords, most used first, of the package that zxcvbn-ts maintains. They take 8 MB. */
export function createPasswordRule() {
  let list: Promise<ReadonlySet<string>> | undefined
  const load = async () => {
    const { dictionary } = await import('@zxcvbn-ts/language-common')
    return new Set(dictionary['passwords-common'])
  }
  return {
    /** Throws AppError naming the field if the password is one that everybody tries first, or that those who know the person do. */
    async assertUncommon(password: string, param: string, person: PasswordOwner | undefined): Promise<void> {
      // Other rules refuse these.
      if (password.length < passwordLength.minimum || password.length > passwordLength.maximum) return
      if (isCommonPassword(password, await (list ??= load()), ownWords(person)))
        throw invalidField(
          param,
          `${param} is easy to guess: a common password, or made of your e-mail address or name. Choose another one, such as four random words.`,
        )
    },
  }
}

export interface PasswordOwner {
  email: string
  /** Unknown where only the e-mail address is at hand. */
  name?: string | undefined
}

/** What others know of a person and of this service. */
function ownWords({ email, name = '' }: PasswordOwner = { email: '' }): ReadonlySet<string> {
  const [local = '', domain = ''] = email.toLowerCase().split('@')
  const parts = (text: string) =>
    text
      .normalize('NFKC')
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
  const joined = [parts(local), parts(name), parts(name).toReversed()].map((words) => words.join(''))
  const words = [
    email.toLowerCase(),
    local,
    domain,
    ...joined,
    ...parts(local),
    ...parts(domain),
    ...parts(name),
    'portico',
  ]
  return new Set(words.flatMap((word) => [word, plain(word)]).filter((word) => word.length >= shortestOwnWord))
}

/** Without accents, spaces, invisible characters and what people put between words. */
const plain = (text: string) => text.normalize('NFKD').replaceAll(/[\p{M}\p{Z}\p{C}_.-]/gu, '')

/** Rows of keyboards and the alphabet; a part of one, in either direction, is as easy to guess as a listed password. */
const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
].flatMap((row) => [row, [...row].toReversed().join('')])

/** Characters that stand for letters; `1` and `!` stand for two. */
const letters: Record<string, string> = { '@': 'a', '4': 'a', '3': 'e', '0': 'o', '5': 's', $: 's', '7': 't' }

/** Digits or symbols that people add to a word to satisfy a rule, at one end of it. */
const usualAddition = 4
/** Initials and domains such as `de` are in many good passwords. */
const shortestOwnWord = 3
/** Of a repeated part that is not listed. */
const shortestRepetition = 3

/**
 * Listed, or a listed one in the forms that programs try next, since few listed passwords have 12 characters: in capitals, with symbols for
 * letters, with accents, apart, repeated, or with digits and symbols around it. `own` are words of the person, in lower case.
 */
export function isCommonPassword(
  password: string,
  list: ReadonlySet<string>,
  own: ReadonlySet<string> = new Set(),
): boolean {
  const isKnown = (part: string): boolean => {
    if (own.has(part) || list.has(part) || rows.some((row) => row.includes(part))) return true
    if (['i', 'l'].map((one) => toLetters(part, one)).some((word) => own.has(word) || list.has(word))) return true
    const unit = repeatedUnit(part)
    const isShort = unit.length <= usualAddition && part.length >= shortestRepetition * unit.length
    return isShort || (unit !== part && isKnown(unit))
  }
  const isUsual = (addition: string): boolean => {
    const digits = addition.replaceAll(/\D/g, '')
    return addition.length - digits.length <= usualAddition && (digits.length <= usualAddition || isKnown(digits))
  }
  const isEasy = (text: string): boolean => {
    if (isKnown(text)) return true
    const [, before = '', core = '', after = ''] = /^(\P{L}*)(.*\p{L})(\P{L}*)$/su.exec(text) ?? []
    return core !== '' && isKnown(core) && isUsual(before) && isUsual(after)
  }
  const text = password.normalize('NFKC').toLowerCase()
  return isEasy(text) || isEasy(plain(text))
}

function toLetters(text: string, one: string): string {
  return text.replaceAll(/[^a-z]/g, (character) => (/[1!]/.test(character) ? one : (letters[character] ?? character)))
}

/** The shortest text whose repetition begins with this one: `abc` of `abcabca`. */
function repeatedUnit(text: string): string {
  for (let length = 1; length < text.length; length++)
    if (text.startsWith(text.slice(length))) return text.slice(0, length)
  return text
}
