import { parentPort, workerData } from 'node:worker_threads'
import { readOpenapi } from './read-openapi.ts'

parentPort!.postMessage(readOpenapi(workerData as string), [])
