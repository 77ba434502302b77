import { createRequire } from 'node:module'
import type { InferenceSessionFactory, TensorConstructor } from 'onnxruntime-common'

/** What a local model is for, in errors: what it is called, and its settings. */
export interface ModelUse {
  noun: string
  /** Where it is configured. */
  settings: string
  /** The environment variable of its folder. */
  variable: string
}

/** The runtime of local models. It is 290 MB that only installations with a local model need, so `npm ci` leaves it out. */

const packageName = 'onnxruntime-node'
/** In package.json, with the version that the tests run with. */
const installCommand = 'npm run install:onnx'

export interface OnnxRuntime {
  InferenceSession: InferenceSessionFactory
  Tensor: TensorConstructor
}

export function isOnnxRuntimeInstalled(name = packageName): boolean {
  try {
    createRequire(import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}

/** Throws with the command that installs the runtime where it is missing. */
export function assertOnnxRuntime({ noun, settings }: ModelUse, name = packageName): void {
  if (isOnnxRuntimeInstalled(name)) return
  throw new Error(
    `A local ${noun} needs the package ${packageName}, which \`npm ci\` does not install. In Portico's folder, run ` +
      `\`${installCommand}\` (again after each \`npm ci\`), or set ${settings}.kind to another value.`,
  )
}

export async function loadOnnxRuntime(): Promise<OnnxRuntime> {
  return (await import(packageName)) as OnnxRuntime
}
