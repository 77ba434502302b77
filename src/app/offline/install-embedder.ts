import {
  type InstalledModel,
  ModelInstallError,
  type PinnedModel,
  pinnedModels,
} from '../../documents/retrieval/index.ts'
import { loadConfig } from '../config/index.ts'
import { installPinnedModel } from '../parts/local-models.ts'

/** `portico embedder install`: the configuration of the service names the data folder, the proxies and the certificates. */

export interface InstallEmbedderTask {
  /** Default: the first pinned model. */
  model?: string
  /** A folder that has the files already. */
  from?: string
  /** Default: the public hub. */
  hub?: string
}

export async function installEmbedder(
  { model: name, from, hub }: InstallEmbedderTask,
  report: (text: string) => void,
  { environment, models = pinnedModels }: { environment?: NodeJS.ProcessEnv; models?: readonly PinnedModel[] } = {},
): Promise<InstalledModel> {
  const model = name === undefined ? models[0]! : models.find((one) => one.name === name || one.id === name)
  if (!model) {
    throw new ModelInstallError(`the model ${name} is not one of: ${models.map((one) => one.name).join(', ')}`)
  }
  return installPinnedModel(loadConfig(environment), {
    model,
    from,
    hubUrl: hub?.replace(/\/+$/, ''),
    report: ({ text }) => report(text),
  })
}
