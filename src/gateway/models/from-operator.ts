import type { ProviderDeclarationBody, PutDeployment, PutModel, StatedPricesBody } from '../../contract/models.ts'
import type { ProviderSettings } from '../providers/index.ts'
import { type Declarations, type DeploymentDeclaration, type ModelDeclaration, noDeclarations } from './declarations.ts'
import { toProvider } from './from-configuration.ts'
import { statedSchedule } from './price-lists.ts'

export interface ProviderSecrets {
  apiKey?: string
  headers?: Record<string, string>
  credentials?: string
}

/** Rows of the database after validation. */
export interface StoredCatalogue {
  providers: { id: string; enabled: boolean; declaration: ProviderDeclarationBody | null; secrets: ProviderSecrets }[]
  models: ({ id: string } & PutModel)[]
  deployments: ({ id: string } & PutDeployment)[]
  prices: { id: string; deploymentId: string; validFrom: number; createdAt: number; prices: StatedPricesBody }[]
}

export function toDeclarations(stored: StoredCatalogue): Declarations {
  return {
    ...noDeclarations,
    origin: 'operator',
    providers: stored.providers.flatMap(({ id, enabled, declaration, secrets }) => {
      if (!declaration) return []
      const settings = { ...declaration, ...secrets, id } as ProviderSettings
      return [{ ...toProvider(settings), enabled }]
    }),
    switches: stored.providers
      .filter(({ declaration }) => declaration === null)
      .map(({ id, enabled }) => ({ providerId: id, enabled })),
    models: stored.models.map(({ retiresAt, ...facts }) => {
      const moment = retiresAt === undefined ? {} : { retiresAt: retiresAt === null ? null : Date.parse(retiresAt) }
      return { ...facts, ...moment } as ModelDeclaration
    }),
    deployments: stored.deployments.map(
      ({ model, provider, ...rest }) => ({ ...rest, modelId: model, providerId: provider }) as DeploymentDeclaration,
    ),
    prices: stored.prices.map(({ id, deploymentId, validFrom, createdAt, prices }) => ({
      id,
      deploymentId,
      schedule: statedSchedule(prices, `operator ${new Date(createdAt).toISOString()}`, validFrom),
    })),
  }
}
