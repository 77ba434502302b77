import type { OfficeKind } from '../office-xml.ts'

export const wordKind: OfficeKind = {
  format: 'docx',
  what: 'document',
  program: 'Word',
  formerExtension: '.doc',
  usualPart: 'word/document.xml',
  foreignParts: /^\/?(?:xl|ppt)\//,
  longest: 'paragraph',
  encryptedCode: 'encrypted_docx',
}
