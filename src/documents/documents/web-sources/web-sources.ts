import { type NewWebSourceBody, webSourceLimits } from '../../../contract/web-sources.ts'
import {
  AppError,
  type Clock,
  createDocumentId,
  isUuid,
  type SpaceId,
  invalidField,
} from '../../../platform/kernel/index.ts'
import type { Organisation } from '../../../tenants/organisations/index.ts'
import type { ChangeAuthor } from '../change-author.ts'
import { readMetadata } from '../document-metadata.ts'
import { cleanName } from '../document-name.ts'
import { type AddressRule, parseAddress } from './read-address.ts'
import type { WebSource } from './web-source.ts'
import type { WebSourceStore } from './web-sources.store.ts'

export interface WebSourcesDependencies {
  store: WebSourceStore
  rule: AddressRule
  /** True if the Space exists and belongs to the organisation. */
  hasSpace: (organisation: Organisation, spaceId: SpaceId) => boolean
  clock: Clock
}

export type WebSources = ReturnType<typeof createWebSources>

/** The rules for documents from web addresses. Throws AppError. */
export function createWebSources({ store, rule, hasSpace, clock }: WebSourcesDependencies) {
  const now = () => new Date(clock.now())

  function assertSpace(organisation: Organisation, spaceId: SpaceId): void {
    if (hasSpace(organisation, spaceId)) return
    throw new AppError('space_not_found', 'There is no Space with this id.', { param: 'spaceId' })
  }

  return {
    /** `metadataText` is the JSON text of the metadata. An address that the Space has already is read again. */
    async add(
      organisation: Organisation,
      spaceId: SpaceId,
      body: NewWebSourceBody,
      metadataText: string | undefined,
      author?: ChangeAuthor,
    ): Promise<WebSource> {
      assertSpace(organisation, spaceId)
      const param = body.url === undefined ? 'sitemap' : 'url'
      const url = parseAddress((body.url ?? body.sitemap)!, param, rule)
      const name = body.name === undefined ? null : cleanName(body.name, 'name')
      const metadata = metadataText === undefined ? null : readMetadata(metadataText)
      const limit = webSourceLimits.perOrganisation
      if ((await store.count(organisation.id)) >= limit) {
        throw invalidField(
          param,
          `${param}: the organisation has ${limit} addresses, which is the limit. Remove some first.`,
        )
      }
      const [id] = await store.add(
        organisation.id,
        [
          {
            id: createDocumentId(),
            organisationId: organisation.id,
            spaceId,
            kind: param === 'url' ? 'page' : 'sitemap',
            url: url.href,
            sitemapId: null,
            pageLimit: param === 'url' ? null : (body.limit ?? webSourceLimits.defaultSitemapPages),
            name,
            metadataJson: metadata?.json ?? null,
            refresh: body.refresh?.every ?? null,
          },
        ],
        now(),
        author,
      )
      return (await store.load(organisation.id, id!)) ?? noSource()
    },

    async list(organisation: Organisation, spaceId: SpaceId, page: { limit: number; offset: number }) {
      assertSpace(organisation, spaceId)
      return store.list(organisation.id, spaceId, page)
    },

    async get(organisation: Organisation, id: string, param = 'id'): Promise<WebSource> {
      const source = isUuid(id) ? await store.load(organisation.id, id) : undefined
      return source && source.state !== 'removed' ? source : noSource(param)
    },

    async readNow(organisation: Organisation, id: string, author?: ChangeAuthor): Promise<WebSource> {
      if (!isUuid(id) || !(await store.readNow(organisation.id, id, now(), author))) noSource()
      return (await store.load(organisation.id, id)) ?? noSource()
    },

    async remove(organisation: Organisation, id: string, author?: ChangeAuthor): Promise<void> {
      if (!isUuid(id) || !(await store.remove(organisation.id, id, author))) noSource()
    },
  }
}

function noSource(param = 'id'): never {
  throw new AppError('not_found', 'There is no address with this id.', { param })
}
