import path from 'node:path'
import { type InstalledModel, installModel, type InstallOptions } from '../../documents/retrieval/index.ts'
import type { Config } from '../config/index.ts'
import { openFetch } from './settings-of-parts.ts'

/** The folder of local models. */
export const modelsFolder = ({ settings }: Config) => path.join(settings.dataFolder, 'models')

/** Fetches through the proxies and with the certificates of the configuration. Throws ModelInstallError. */
export async function installPinnedModel(
  config: Config,
  options: Omit<InstallOptions, 'cacheFolder' | 'fetch'>,
): Promise<InstalledModel> {
  const { fetch, close } = openFetch(config, { limits: undefined, proxies: config.proxies })
  try {
    return await installModel({ ...options, cacheFolder: modelsFolder(config), fetch })
  } finally {
    await close()
  }
}
