import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { jsonBytes } from '../../ui/json-text.ts'

/** maximumMetadataBytes of src/contract/documents.ts. */
const maximumBytes = 16 * 1024

/** The limit of metadata, and why a text is none; undefined if it is. An empty text is. */
export function useMetadataText(text: string): { problem: string | undefined; limit: string } {
  const { t } = useTranslation('files')
  const format = useFormat()
  const limit = `${format.number(maximumBytes)} B`
  const findProblem = () => {
    if (text.trim() === '') return undefined
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      return t('metadata.notJson', { message: error instanceof Error ? error.message : '' })
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return t('metadata.notObject')
    return jsonBytes(text) > maximumBytes ? t('metadata.tooLarge', { limit }) : undefined
  }
  return { problem: findProblem(), limit }
}
