import { Button, Menu } from '@mantine/core'
import { IconChevronDown, IconDownload } from '@tabler/icons-react'

const formats = ['jsonl', 'csv'] as const

interface ExportMenuProps {
  title: string
  /** What is downloaded. */
  label: string
  nameOf: (format: (typeof formats)[number]) => string
  addressOf: (format: string) => string
  isEmpty: boolean
}

/** Downloads a list in one of the formats. */
export function ExportMenu({ title, label, nameOf, addressOf, isEmpty }: ExportMenuProps) {
  return (
    <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          rightSection={<IconChevronDown size={14} aria-hidden />}
          disabled={isEmpty}
        >
          {title}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{label}</Menu.Label>
        {formats.map((format) => (
          <Menu.Item key={format} component="a" href={addressOf(format)} download>
            {nameOf(format)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
