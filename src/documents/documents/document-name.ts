import { maximumNameLength } from '../../contract/documents.ts'
import { invalidField } from '../../platform/kernel/index.ts'

/** Control characters, line separators, and bidirectional overrides (which make `fdp.exe` look like `exe.pdf`). */
// oxlint-disable-next-line no-control-regex
const unwanted = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g

/**
 * A display name: NFC, without path parts and unwanted characters. Throws AppError with `param` if the result is empty or too long.
 */
export function cleanName(name: string, param: string): string {
  const clean =
    name
      .replaceAll(unwanted, '')
      .toWellFormed()
      .normalize('NFC')
      .split(/[\\/]/)
      .map((part) => part.trim())
      .findLast((part) => part !== '' && part !== '.' && part !== '..') ?? ''
  if (clean === '') throw invalidField(param, `${param}: the name is empty.`)
  if ([...clean].length > maximumNameLength) {
    throw invalidField(param, `${param}: at most ${maximumNameLength} characters.`)
  }
  return clean
}
