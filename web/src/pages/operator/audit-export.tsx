import { Button, Menu } from '@mantine/core'
import { IconChevronDown, IconDownload } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { auditPath, type AuditSearch } from './routes.tsx'

interface AuditExportProps {
  search: AuditSearch
  organisationId: string | undefined
  isEmpty: boolean
}

const formats = ['jsonl', 'csv'] as const

/** Downloads every entry that matches the filters. */
export function AuditExport({ search, organisationId, isEmpty }: AuditExportProps) {
  const { t } = useTranslation('operator')
  const [path = '', query = ''] = auditPath(search, organisationId).split('?')
  return (
    <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          rightSection={<IconChevronDown size={14} aria-hidden />}
          disabled={isEmpty}
        >
          {t('audit.export')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('audit.exportLabel')}</Menu.Label>
        {formats.map((format) => (
          <Menu.Item
            key={format}
            component="a"
            href={`${path}/export?format=${format}${query && `&${query}`}`}
            download
          >
            {t(`audit.exportFormats.${format}`)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
