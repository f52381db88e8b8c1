// A function tool in a module of its own.
export default ({ text }) => text.repeat(2)
