import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'

interface Place {
  pageFrom: number | null
  pageTo: number | null
  rowFrom: number | null
  rowTo: number | null
}

/** "Page 3", "Rows 10–24"; empty for a text without pages and rows. */
export function usePlace({ pageFrom, pageTo, rowFrom, rowTo }: Place): string {
  const { t } = useTranslation('viewer')
  const format = useFormat()
  const span = (from: number, to: number | null) => ({
    from: format.number(from),
    to: format.number(to ?? from),
  })
  if (pageFrom !== null)
    return pageTo === null || pageTo === pageFrom
      ? t('place.page', { page: format.number(pageFrom) })
      : t('place.pages', span(pageFrom, pageTo))
  if (rowFrom !== null)
    return rowTo === null || rowTo === rowFrom
      ? t('place.row', { row: format.number(rowFrom) })
      : t('place.rows', span(rowFrom, rowTo))
  return ''
}
