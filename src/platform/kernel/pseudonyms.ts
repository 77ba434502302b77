import { createHmac } from 'node:crypto'

/** Pseudonyms of end users for providers: stable for one person, without information about the person. */
export type Pseudonyms = (organisationId: string, name: string) => string

/**
 * Keyed with a secret of this installation, which prevents guessing. The same name in two organisations gives two pseudonyms. 64 characters: the most that OpenAI takes.
 */
export function createPseudonyms(masterKey: string | Uint8Array): Pseudonyms {
  const key = createHmac('sha256', masterKey).update('portico pseudonyms v1').digest()
  return (organisationId, name) =>
    createHmac('sha256', key)
      .update(JSON.stringify([organisationId, name]))
      .digest('hex')
}
