/** Mantine's components in the page's own dress: small, quiet, dense. */

import { convertCssVariables, createTheme, DEFAULT_THEME, defaultCssVariablesResolver, mergeMantineTheme, type MantineColorsTuple } from '@mantine/core'

const iris: MantineColorsTuple = ['#ecedfb', '#dcddf8', '#bdbef0', '#9a9cf5', '#8183ec', '#6a6ce0', '#5a5cd4', '#4f52c9', '#4345ad', '#36388c']
const night: MantineColorsTuple = ['#ededf1', '#d5d5dc', '#b0b0bb', '#8a8a96', '#3d3d47', '#2a2a31', '#222228', '#18181c', '#111114', '#0b0b0d']

/** White can be read on the two that buttons are filled with. */
const red: MantineColorsTuple = ['#fff5f5', '#ffe3e3', '#ffc9c9', '#ffa8a8', '#ff8787', '#ff6b6b', '#d63939', '#c92a2a', '#b02525', '#8f1d1d']

export const theme = createTheme({
  primaryColor: 'iris',
  primaryShade: { light: 7, dark: 6 },
  colors: { iris, red, dark: night },
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '12px', sm: '12.5px', md: '13px', lg: '15px', xl: '18px' },
  defaultRadius: 6,
  cursorType: 'pointer',
  components: {
    Button: { defaultProps: { size: 'xs' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray', size: 'md' } },
    TextInput: { defaultProps: { size: 'xs' } },
    PasswordInput: { defaultProps: { size: 'sm' } },
    Select: { defaultProps: { size: 'xs' } },
    MultiSelect: { defaultProps: { size: 'xs' } },
    Checkbox: { defaultProps: { size: 'xs' } },
    Switch: { defaultProps: { size: 'xs' } },
    SegmentedControl: { defaultProps: { size: 'xs' } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
    Menu: { defaultProps: { shadow: 'md', position: 'bottom-end' } },
    // Nothing behind a dialog scrolls: the page itself never does. Locking it would need a style element.
    Modal: { defaultProps: { lockScroll: false, overlayProps: { backgroundOpacity: 0.35 } } },
    Drawer: { defaultProps: { lockScroll: false, overlayProps: { backgroundOpacity: 0.35 } } },
  },
})

/** Mantine's own colours, taken from the page's: both have to change together, and to be read by everybody. */
const colours = {
  '--mantine-color-body': 'var(--panel)',
  '--mantine-color-text': 'var(--ink)',
  '--mantine-color-dimmed': 'var(--ink-3)',
  '--mantine-color-error': 'var(--bad)',
  '--mantine-color-placeholder': 'var(--ink-3)',
  '--mantine-color-default': 'var(--panel)',
  '--mantine-color-default-hover': 'var(--hover)',
  '--mantine-color-default-border': 'var(--line-strong)',
}

/**
 * Mantine would write its variables into a style element, which the page's security policy refuses. A sheet that is made here is
 * part of the program instead.
 */
export function adoptVariables(): void {
  const { variables, light, dark } = defaultCssVariablesResolver(mergeMantineTheme(DEFAULT_THEME, theme))
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(convertCssVariables({ variables, light: { ...light, ...colours }, dark: { ...dark, ...colours } }, ':root'))
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
}
