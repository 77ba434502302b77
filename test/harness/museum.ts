import {
  expectStatus,
  type StartOptions,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
  uploadForm,
  waitForDocument,
} from './portico.ts'

/** A service with an organisation and a published Space. */
interface SpaceStage {
  portico: TestPortico
  organisation: TestOrganisation
  space: TestSpace
}

export async function startWithSpace(options: StartOptions = {}, fields = {}): Promise<SpaceStage> {
  const portico = await startPortico(options)
  const organisation = await portico.createOrganisation()
  return { portico, organisation, space: await portico.createSpace(organisation, fields) }
}

/** The same with one document about a museum, which is `ready`. */
export async function startMuseum(
  text = '# Tickets\n\nA ticket costs 12 euros. The museum opens at nine.',
  fields?: Record<string, string>,
  options: StartOptions = {},
): Promise<SpaceStage & { documentId: string }> {
  const stage = await startWithSpace(options, { name: 'Museum' })
  return { ...stage, documentId: await uploadReady(stage.organisation, stage.space.id, text, 'museum.md', fields) }
}

/** Uploads a file and waits for it; resolves to the id of the document. */
export async function uploadReady(
  { client }: Pick<TestOrganisation, 'client'>,
  spaceId: string,
  content: string | Uint8Array,
  name: string,
  fields?: Record<string, string>,
): Promise<string> {
  const uploaded = await client('POST', `/v1/documents?spaceId=${spaceId}`, uploadForm(content, name, fields))
  const { id } = expectStatus(uploaded, 201)
  const document = await waitForDocument(client, id)
  if (document.status !== 'ready') throw new Error(`${name} is ${document.status}: ${JSON.stringify(document.error)}`)
  return id
}
