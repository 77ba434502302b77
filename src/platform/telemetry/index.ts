export { createTelemetry } from './create-telemetry.ts'
