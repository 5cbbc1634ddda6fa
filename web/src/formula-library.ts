/** The library that draws formulas, with its styles: a part of the app that is fetched for the first formula. */
import temml from "temml";
import "temml/dist/Temml-Local.css";

export const render = temml.render;
