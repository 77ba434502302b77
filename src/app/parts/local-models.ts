import path from 'node:path'
import { type InstalledModel, installModel, type InstallOptions } from '../../documents/retrieval/index.ts'
import type { Config } from '../config/index.ts'
import { openFetch } from './settings-of-parts.ts'

/** The folder of local models. */
export const modelsFolder = ({ settings }: Config) => path.join(settings.dataFolder, 'models')

/** Gives `use` a fetch through the proxies and with the certificates of the configuration, for files of models. */
export async function withModelFetch<T>(config: Config, use: (modelFetch: typeof fetch) => Promise<T>): Promise<T> {
  const { fetch, close } = openFetch(config, { limits: undefined, proxies: config.proxies })
  try {
    return await use(fetch)
  } finally {
    await close()
  }
}

/** Throws ModelInstallError. */
export const installPinnedModel = (
  config: Config,
  options: Omit<InstallOptions, 'cacheFolder' | 'fetch'>,
): Promise<InstalledModel> =>
  withModelFetch(config, (fetch) => installModel({ ...options, cacheFolder: modelsFolder(config), fetch }))
