import { createHmac } from 'node:crypto'

/** Names that stand for people towards others: the same for the same person, and nothing to be read from them. */
export type Pseudonyms = (organisationId: string, name: string) => string

/**
 * Made with a key of this installation, so that nobody else can try names until one fits. People of two organisations differ although they
 * have one name. 64 characters: the most that OpenAI takes.
 */
export function createPseudonyms(masterKey: string | Uint8Array): Pseudonyms {
  const key = createHmac('sha256', masterKey).update('portico pseudonyms v1').digest()
  return (organisationId, name) =>
    createHmac('sha256', key)
      .update(JSON.stringify([organisationId, name]))
      .digest('hex')
}
